"""Carries out what changed files take, in an order in which each step finds what it needs.

An effect is text as in the lock file: `restart:chrony.service`, `reconfigure`. What fails does not keep the others from
being done; each is taken off the journal as soon as it is done.
"""

from __future__ import annotations

import os
import re
import time
from fnmatch import fnmatchcase

from ansible_collections.clustergen.cluster.plugins.module_utils import journal, safe_files

# Units whose turn comes later, when the daemons that they talk to run.
SLURM_UNITS = ("slurmdbd.service", "slurmctld.service", "slurmd.service", "sackd.service", "slurmrestd.service")
# The order of steps.tsv in the catalogue, which nodes do not have; a test compares the commands of a node with it.
_ORDER = ("create", "daemon-reload", "sysctl", "run", "remount", "drain", "reload", "restart", "stop")
ACCOUNTS = "/usr/local/sbin/clustergen-accounts"
_WRITE = "/usr/local/sbin/clustergen-write"
_MISSING = " is not on this node: its package is missing"
# systemctl enables the init script of a service as well, with two programs that both let systemd read all units again.
_UNITS_ALONE = {"SYSTEMCTL_SKIP_SYSV": "1"}
_LOG_READ = 1 << 20  # bytes of a daemon's log; SlurmUser owns it and may have anything in its place


class Worker:
    """Runs commands for effects and gathers what was done and what failed."""

    def __init__(self, module, without=()):
        self.module = module
        self.without = without
        self.done = []
        self.failed = []
        self.fresh = set()  # units that were started just now and need no restart

    def lacks(self, unit):
        """True if this node is without a unit, by a pattern."""
        return any(fnmatchcase(unit, pattern) for pattern in self.without)

    def run(self, what, *command):
        code, out, err = self.module.run_command(["timeout", "-k", "5", "300", *command])
        if code:
            words = [line for line in (err or out).strip().splitlines() if not line.startswith("See ")]
            self.failed.append("{}: {}".format(what, " ".join(words[-3:]) or "exit status %d" % code))
        return code == 0

    def systemctl(self, verb, unit):
        before = self.property(unit, "InvocationID")
        log = slurm_log(unit)
        size = os.path.getsize(log) if log else 0
        code, out, err = self.module.run_command(["timeout", "-k", "5", "300", "systemctl", verb, unit])
        if code == 0:
            return True
        run = self.property(unit, "InvocationID")
        words = self.words(log, size, run) if run != before else ""
        lines = [line for line in (err or out).strip().splitlines() if not line.startswith(("See ", "Job for"))]
        self.failed.append(
            "systemctl {} {} failed: {}".format(verb, unit, words or " ".join(lines) or "see journalctl -xeu " + unit)
        )
        return False

    def property(self, unit, name):
        return self.module.run_command(["systemctl", "show", "-p", name, "--value", unit])[1].strip()

    def words(self, log, size, run):
        """The last that one run of a unit said, in its own log beyond `size` or in the journal."""
        if log:
            new_lines = safe_files.read_text(log, _LOG_READ, size).splitlines()
            wrong = [line for line in new_lines if "fatal:" in line] or [line for line in new_lines if "error:" in line]
            if wrong:
                return re.sub(r"^\[[^\]]*\]\s*", "", wrong[-1])
        _, log, _ = self.module.run_command(
            ["journalctl", "-q", "_SYSTEMD_INVOCATION_ID=" + run, "-n", "4", "-o", "cat", "--no-pager"]
        )
        return " | ".join(line.strip() for line in log.splitlines() if line.strip())

    def active(self, unit):
        return self.module.run_command(["systemctl", "is-active", "--quiet", unit])[0] == 0

    def has(self, unit):
        return self.property(unit, "LoadState") not in ("not-found", "masked", "")

    def start(self, units):
        """Enables and starts; what is there and inactive counts as done, what is not there has failed."""
        present = [unit for unit in units if self.has(unit)]
        self.failed += [unit + _MISSING for unit in units if unit not in present]
        enabled = self.enable(present)
        for unit in present:
            changed = unit in enabled
            if not self.active(unit):
                if not self.systemctl("start", unit):
                    continue
                make_directories(self, unit)
                self.fresh.add(unit)
                changed = True
            if changed:
                self.done.append("start:" + unit)

    def enable(self, units):
        """Enables those that are disabled, in one call, as systemd reads all units again after each; returns them."""
        states = {unit: self.module.run_command(["systemctl", "is-enabled", unit])[1].strip() for unit in units}
        disabled = [unit for unit in units if states[unit] in ("disabled", "indirect")]
        command = ["timeout", "-k", "5", "300", "systemctl", "enable", *disabled]
        if not disabled or self.module.run_command(command, environ_update=_UNITS_ALONE)[0] == 0:
            return disabled
        return [unit for unit in disabled if self.systemctl("enable", unit)]  # one at a time, to report which fail


def slurm_log(unit):
    """The log file of a Slurm daemon; None where it has none."""
    daemon = unit.partition(".")[0]
    file = {"slurmctld": "slurm.conf", "slurmd": "slurm.conf", "slurmdbd": "slurmdbd.conf"}.get(daemon)
    key = {"slurmctld": "SlurmctldLogFile", "slurmd": "SlurmdLogFile"}.get(daemon, "LogFile")
    log = _setting(str(file), key)
    return log if log and os.path.isfile(log) else None


def order(effects):
    return sorted(effects, key=lambda effect: _ORDER.index(effect.partition(":")[0]))


def local(worker, effects):
    """Everything but Slurm's own daemons and rebooting."""
    mine = [
        effect
        for effect in effects
        if effect.partition(":")[0] in _ORDER and effect.partition(":")[2] not in SLURM_UNITS
    ]
    slurmd_ran = worker.active("slurmd.service") if any(e.startswith(("remount", "drain")) for e in mine) else False
    for effect in order(mine):
        kind, _, unit = effect.partition(":")
        if unit and (worker.lacks(unit) or unit in worker.fresh):
            journal.done(effect)
            continue
        if _do(worker, kind, unit):
            worker.done.append(effect)
            journal.done(effect)
    # A mount that a unit requires takes it along when it goes.
    if slurmd_ran and not worker.active("slurmd.service") and worker.systemctl("start", "slurmd.service"):
        worker.done.append("start:slurmd.service")


def _do(worker, kind, unit):
    if kind == "create":
        # Directories of packages that are not there yet are no concern of ours.
        return worker.run("systemd-sysusers", "systemd-sysusers") and worker.run("systemd-tmpfiles", *tmpfiles())
    if kind == "daemon-reload":
        return worker.run("systemctl daemon-reload", "systemctl", "daemon-reload")
    if kind == "sysctl":
        return worker.run("sysctl", "sysctl", "--system", "--quiet", "--ignore")
    if kind == "remount" and not worker.has(unit):
        return True  # its file has gone, and the mount with it
    if kind == "stop":
        return not worker.has(unit) or worker.run(
            "systemctl disable --now " + unit, "systemctl", "disable", "--now", unit
        )
    if not worker.has(unit):
        worker.failed.append(unit + _MISSING)
        return False
    if kind == "run":
        return worker.systemctl("restart", unit)
    if kind in ("remount", "drain", "restart"):
        return worker.systemctl("restart", unit) and make_directories(worker, unit)
    if kind == "reload":
        return worker.systemctl("reload" if worker.active(unit) else "start", unit)
    return False


def make_directories(worker, unit):
    """Makes the directories of daemons in a file system that was mounted just now: those made before lie below it."""
    where = worker.property(unit, "Where") if unit.endswith(".mount") else ""
    if not where.startswith("/"):
        return True
    return worker.run("systemd-tmpfiles", *tmpfiles()[:2], "--prefix=" + where, *tmpfiles()[2:])


def tmpfiles():
    directory = "/etc/tmpfiles.d"
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    paths = [os.path.join(directory, name) for name in names if name.startswith("clustergen-")]
    return ["systemd-tmpfiles", "--create", *paths]


# -- Slurm's daemons ----------------------------------------------------------------------------------------------------


def slurm(worker, effects, units):
    """slurmdbd, then slurmctld, then slurmd and the rest, as far as they are `units`: started, restarted, told."""
    if "reboot" in effects:
        journal.done("reboot")
    for unit in SLURM_UNITS:
        if unit not in units or worker.lacks(unit):
            continue
        mine = [effect for effect in effects if _is_about(effect, unit)]
        failed = len(worker.failed)
        if unit == "slurmctld.service":
            _controller(worker, mine)
        elif unit == "slurmdbd.service":
            if _daemon(worker, unit, bool(mine)) and not listens(_dbd_port()):
                worker.failed.append("slurmdbd runs but does not listen on its port")
        elif not _daemon(worker, unit, any(effect.startswith("restart") for effect in mine)) and "reconfigure" in mine:
            worker.systemctl("reload", unit)
        if len(worker.failed) == failed:
            for effect in mine:
                worker.done.append(effect)
                journal.done(effect)


def stop(worker, units):
    """Stops Slurm's daemons, for a change that none of them may see half done; slurmdbd keeps what others report."""
    for unit in reversed(SLURM_UNITS[1:]):
        if unit in units and worker.active(unit) and worker.systemctl("stop", unit):
            worker.done.append("stop:" + unit)


def _is_about(effect, unit):
    kind, _, named = effect.partition(":")
    if unit == "slurmctld.service" and kind in ("load-accounts", "new-cluster-id", "move-state", "reconfigure"):
        return True
    daemon = unit.partition(".")[0]
    return named == unit or kind == "restart-" + daemon or (daemon, kind) == ("slurmd", "reconfigure")


def _daemon(worker, unit, restart):
    """True where it was started or restarted."""
    if not worker.active(unit):
        # One that started before its file was there goes on waiting for it and looks nowhere else.
        if worker.property(unit, "ActiveState") == "activating":
            worker.systemctl("stop", unit)
        worker.start([unit])
        return unit in worker.fresh
    worker.start([unit])  # enabled?
    return restart and worker.systemctl("restart", unit)


def _accounts(worker, *words):
    code, out, err = worker.module.run_command(["timeout", "-k", "5", "300", ACCOUNTS, *words])
    if code:
        worker.failed.append("clustergen-accounts: " + " ".join((err or out).strip().splitlines()[-3:]))
    return code == 0


def _controller(worker, effects):
    if "new-cluster-id" in effects and not _forget_cluster_id(worker):
        return
    moved = [effect.partition(":")[2] for effect in effects if effect.startswith("move-state:")]
    if moved and not _move_state(worker, moved[0]):
        return
    script = "load-accounts" in effects and os.path.exists(ACCOUNTS)
    # Partitions name QOS and accounts, so those have to be there before the first start.
    if script and not worker.active("slurmctld.service") and not _accounts(worker, "names"):
        return
    _daemon(worker, "slurmctld.service", any(effect.startswith("restart-slurmctld") for effect in effects))
    if not worker.active("slurmctld.service"):
        return
    if not answers(worker):
        worker.failed.append("slurmctld runs but does not respond to `scontrol ping`")
        return
    if script and not _accounts(worker):
        return
    # A slurmctld that starts tells no slurmd; before its first start there is none to tell.
    is_first = "slurmctld.service" in worker.fresh and not moved and "new-cluster-id" not in effects
    if "reconfigure" in effects and not is_first:
        worker.run("scontrol reconfigure", "scontrol", "reconfigure")
        answers(worker)


def _forget_cluster_id(worker):
    """Stops slurmctld and removes the cluster ID that it saved, since slurmdbd assigns another one; True where it did."""
    if worker.active("slurmctld.service") and not worker.systemctl("stop", "slurmctld.service"):
        return False
    place = os.path.join(_setting("slurm.conf", "StateSaveLocation") or "/var/spool", "clustername")
    try:
        os.unlink(place)
    except FileNotFoundError:
        pass
    except OSError as err:
        worker.failed.append(f"{place}: {safe_files.reason_of(err)}")
        return False
    return True


def _move_state(worker, old):
    """Stops slurmctld and copies its state from the directory `old` to where slurm.conf wants it; True where it is there.

    What is there already and newer stays: an earlier run moved it, and slurmctld went on from there.
    """
    if worker.active("slurmctld.service") and not worker.systemctl("stop", "slurmctld.service"):
        return False
    new = _setting("slurm.conf", "StateSaveLocation") or "/var/spool"
    times = [_modified(os.path.join(place, "job_state")) for place in (old, new)]
    if not os.path.isdir(old) or times[1] > times[0]:
        return True
    name = _setting("slurm.conf", "SlurmUser") or "root"
    try:
        user = safe_files.account(name)
    except KeyError:
        worker.failed.append("SlurmUser " + name + " has no account on this node")
        return False
    if not os.path.isdir(new) and not worker.run("create " + new, _WRITE, "--directory", new, name):
        return False
    # As SlurmUser, who owns both: a link in one of them opens nothing that SlurmUser may not write.
    command = ["setpriv", "--reuid=%d" % user.pw_uid, "--regid=%d" % user.pw_gid, "--init-groups"]
    command += ["cp", "--archive", "--no-target-directory", old, new]
    return worker.run(f"copy {old} to {new}", *command)


def _modified(path):
    """When a file was last written, in nanoseconds; 0 where there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _setting(file, key):
    """The value of a key in one of Slurm's files; None where it is not set."""
    try:
        with open("/etc/slurm/" + file, encoding="utf-8", errors="replace") as opened:
            match = re.search(r"^\s*" + key + r"\s*=\s*\"?([^\s\"#]+)", opened.read(), re.IGNORECASE | re.MULTILINE)
    except OSError:
        return None
    return match.group(1) if match else None


def _dbd_port():
    port = _setting("slurmdbd.conf", "DbdPort") or ""
    return int(port) if port.isdigit() else 6819


def listens(port, seconds=120):
    """True if something listens on a port of this node; the first start of slurmdbd makes its tables before."""
    for _ in range(seconds * 5):
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            if os.path.exists(table):
                with open(table, encoding="ascii") as file:
                    if re.search(rf"^ *\d+: [0-9A-F]+:{port:04X} [0-9A-F:]+ 0A", file.read(), re.MULTILINE):
                        return True
        time.sleep(0.2)
    return False


def answers(worker, seconds=60):
    """True if this controller, or the other one, serves."""
    for _ in range(seconds * 2):
        code, out, _ = worker.module.run_command(["timeout", "-k", "1", "10", "scontrol", "ping"])
        if code == 0 and " is UP" in out:
            return True
        time.sleep(0.5)
    return False
