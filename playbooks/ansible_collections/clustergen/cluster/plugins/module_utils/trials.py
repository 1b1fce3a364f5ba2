"""Lets the daemons' own parsers read files that are not live yet.

The folder of the files is copied, the new files are put into the copy, and the parser sees the copy in the place of the
folder, in a mount namespace of its own. Nothing that runs on the node notices.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time

SECONDS = 60
_RUN = ["timeout", "-k", "5", str(SECONDS)]
# The copy in the place of the folder, for one command.
_VIEW = 'while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 125; shift 2; done; shift; exec "$@"'


class Staged:
    """Copies of the folders that hold `files` ([{"target", "content"}]), with those files in them."""

    def __init__(self, files, removed=()):
        self.files = files
        self.removed = removed
        self.place = tempfile.mkdtemp(prefix="clustergen-trial-", dir="/run")
        os.chmod(self.place, 0o711)  # daemons read it as their own user; the copies keep their modes
        self.copies = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.place, ignore_errors=True)

    def folder(self, real):
        """The copy of one folder, made when it is first asked for."""
        if real not in self.copies:
            copy = self.place + real
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            if os.path.isdir(real):
                shutil.copytree(real, copy, symlinks=True, ignore_dangling_symlinks=True, copy_function=_copy)
                _own_like(real, copy)
            else:
                os.makedirs(copy)
            for file in self.files:
                if file["target"].startswith(real + "/"):
                    _write(copy + file["target"][len(real) :], file)
            for target in self.removed:
                if target.startswith(real + "/") and os.path.exists(copy + target[len(real) :]):
                    os.unlink(copy + target[len(real) :])
            self.copies[real] = copy
        return self.copies[real]

    def see(self, module, folders, command, extra=()):
        """Runs `command` with the copies of `folders` in their place; (exit status, output)."""
        pairs = []
        for folder in folders:
            if os.path.isdir(folder):
                pairs += [self.folder(folder), folder]
        wrapped = ["unshare", "--mount", "--propagation", "private", *extra, "sh", "-c", _VIEW, "sh", *pairs, "--"]
        code, out, err = module.run_command([*_RUN, *wrapped, *command])
        return code, out + err


def _copy(source, target):
    shutil.copy2(source, target)
    found = os.stat(source)
    os.chown(target, found.st_uid, found.st_gid)
    return target


def _own_like(real, copy):
    for root, folders, _ in os.walk(real):
        for name in ["", *folders]:
            source = os.path.join(root, name) if name else root
            target = copy + source[len(real) :]
            if os.path.isdir(target) and not os.path.islink(target):
                found = os.stat(source)
                os.chown(target, found.st_uid, found.st_gid)


def _write(place, file):
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "wb") as opened:
        opened.write(file["content"])
    os.chmod(place, int(file["mode"], 8))
    if file.get("ids"):
        os.chown(place, *file["ids"])


def _words(output, most=4):
    """The lines of a parser's output that say what is wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    wrong = [line for line in lines if re.search(r"fatal|error|FAILED|invalid|Could not|bad |Bad |line \d+", line)]
    cleaned = [re.sub(r"^(\[?[\d:T.-]+\]?|slurm\w+:)\s*", "", line) for line in (wrong or lines)]
    return "; ".join(list(dict.fromkeys(cleaned))[:most]) or "no words"


# -- Slurm ------------------------------------------------------------------------------------------------------------

_OWN_PLACES = (
    "SlurmctldPidFile",
    "StateSaveLocation",
    "SlurmctldLogFile",
    "SlurmSchedLogFile",
    "SlurmdbdPidFile",
    "PidFile",
    "LogFile",
)
_STATE = (
    "assoc_usage",
    "assoc_mgr_state",
    "last_tres",
    "last_config_lite",
    "qos_usage",
    "clustername",
    "fed_mgr_state",
)


# What only a slurmctld that knows its database understands: lines, and words within lines.
_ACCOUNTING = re.compile(
    r"^\s*(?:AccountingStor|JobAcctGather|PriorityWeightTRES)\w*\s*=.*$|\s\w*TRES(?:Billing)?Weights?=(?:\"[^\"]*\"|\S+)",
    re.IGNORECASE,
)


def _setting(folder, key):
    """The value of a key in slurm.conf and what lies beside it; None where it stands nowhere."""
    pattern = re.compile(r"^\s*" + key + r"\s*=\s*\"?([^\s\"#]+)", re.IGNORECASE | re.MULTILINE)
    for root, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith(".conf") and name not in ("gres.conf", "slurmdbd.conf"):
                with open(os.path.join(root, name), encoding="utf-8", errors="replace") as opened:
                    match = pattern.search(opened.read())
                if match:
                    return match.group(1)
    return None


def _own_places(folder, values, drop=None):
    """Lets the daemon keep its state, log and pid file in the trial's own folder."""
    keys = re.compile(r"^(\s*)(" + "|".join(values) + r")(\s*=).*$", re.IGNORECASE)
    lower = {key.lower(): value for key, value in values.items()}
    for root, _, names in os.walk(folder):
        for name in names:
            if not name.endswith(".conf"):
                continue
            place = os.path.join(root, name)
            with open(place, encoding="utf-8", errors="surrogateescape") as opened:
                lines = opened.read().split("\n")
            kept = []
            for line in lines:
                match = keys.match(line)
                if match:
                    line = match.group(1) + match.group(2) + "=" + lower[match.group(2).lower()]
                kept.append(drop.sub("", line) if drop else line)
            with open(place, "w", encoding="utf-8", errors="surrogateescape") as opened:
                opened.write("\n".join(kept))


def slurmctld(module, staged):
    """slurmctld starts on the new files beside the one that runs: no network, a copy of what it needs of its state."""
    program = shutil.which("slurmctld", path="/usr/sbin:/usr/bin:/opt/slurm/sbin:/usr/local/sbin")
    if not program:
        return None
    folder = staged.folder("/etc/slurm")
    user = _setting(folder, "SlurmUser") or "root"
    state = staged.place + "/state"
    os.makedirs(state, mode=0o755)
    shutil.chown(state, user)
    saved = _setting("/etc/slurm", "StateSaveLocation")
    known = False
    if saved:
        for name in _STATE:
            if os.path.isfile(os.path.join(saved, name)):
                shutil.copy2(os.path.join(saved, name), state)
                shutil.chown(os.path.join(state, name), user)
                known = known or name == "assoc_mgr_state"
    log = staged.place + "/slurmctld.log"
    own = dict.fromkeys(("SlurmctldLogFile", "SlurmSchedLogFile"), log)
    own.update(SlurmctldPidFile=staged.place + "/slurmctld.pid", StateSaveLocation=state)
    # A controller that never ran knows no accounts yet, and none can be asked from in here.
    unknown = None if known else _ACCOUNTING
    _own_places(folder, own, unknown)
    open(log, "w").close()
    shutil.chown(log, user)
    first = re.split(r"[(,]", _setting(folder, "SlurmctldHost") or _setting(folder, "ControlMachine") or "localhost")[0]
    hosts = ["/etc/hosts"] if any(file["target"] == "/etc/hosts" for file in staged.files) else []
    script = (
        # A name service that knows only loopback gives no address at all.
        'hostname "$1"; ip link set lo up; ip address add 198.18.0.1/32 dev lo; for file in $3; do mount --bind "$2$file" "$file"; done\n'
        'until_says="Running as primary controller"\n'
        '"$4" -D -v >>"$5" 2>&1 & daemon=$!\n'
        "for _ in $(seq 300); do\n"
        '  if grep -q "$until_says" "$5"; then kill -9 $daemon; exit 0; fi\n'
        "  kill -0 $daemon 2>/dev/null || exit 1\n"
        '  if grep -qE "retrying in 1sec" "$5"; then break; fi\n'
        "  sleep 0.1\n"
        "done\nkill -9 $daemon; exit 1\n"
    )
    for file in staged.files:
        if file["target"] in hosts:
            _write(staged.place + file["target"] + ".new", file)
            os.makedirs(staged.place + "/etc", exist_ok=True)
            os.replace(staged.place + file["target"] + ".new", staged.place + file["target"])
    code, output = staged.see(
        module,
        ["/etc/slurm"],
        ["sh", "-c", script, "sh", first, staged.place, " ".join(hosts), program, log],
        ["--net", "--uts", "--pid", "--fork", "--kill-child"],
    )
    with open(log, encoding="utf-8", errors="replace") as opened:
        said = opened.read()
    if code == 0:
        return ""
    fatal = [line for line in said.splitlines() if "fatal:" in line]
    errors = [line for line in said.splitlines() if "error:" in line and "state" not in line]
    return "slurmctld refuses these files: " + _words("\n".join([*fatal, *errors[:3]]) or output)


_OF_THE_MACHINE = re.compile(r"Hybrid mode is not supported|cgroup namespace|Mounted cgroups")


def slurmd(module, staged):
    """slurmd lists the GRES of this node as the new files have them."""
    program = shutil.which("slurmd", path="/usr/sbin:/usr/bin:/opt/slurm/sbin:/usr/local/sbin")
    if not program:
        return None
    _, output = staged.see(module, ["/etc/slurm"], [program, "-G"])
    if not any("fatal:" in line and not _OF_THE_MACHINE.search(line) for line in output.splitlines()):
        return ""
    return "slurmd refuses these files: " + _words(output)


def slurmdbd(module, staged):
    """slurmdbd reads its file; it gets as far as the database, which it cannot reach from in here."""
    program = shutil.which("slurmdbd", path="/usr/sbin:/usr/bin:/opt/slurm/sbin:/usr/local/sbin")
    if not program:
        return None
    folder = staged.folder("/etc/slurm")
    _own_places(folder, {"PidFile": staged.place + "/slurmdbd.pid", "LogFile": staged.place + "/slurmdbd.log"})
    script = (
        "for folder in /run/mysqld /var/lib/mysql; do [ ! -d $folder ] || mount -t tmpfs none $folder; done; ip link set lo up\n"
        'exec timeout -k 1 2 "$1" -D -v'
    )
    _, output = staged.see(
        module, ["/etc/slurm"], ["sh", "-c", script, "sh", program], ["--net", "--pid", "--fork", "--kill-child"]
    )
    fatal = [line for line in output.splitlines() if "fatal:" in line and "database" not in line.lower()]
    wrong = [
        line for line in output.splitlines() if re.search(r"Parsing error|unrecognized|Unable to (parse|process)", line)
    ]
    return "slurmdbd refuses its file: " + _words("\n".join(wrong + fatal)) if fatal or wrong else ""


# -- Others -----------------------------------------------------------------------------------------------------------


def _asked(program, folders, arguments):
    def ask(module, staged):
        path = shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin:/usr/local/sbin")
        if not path:
            return None
        code, output = staged.see(module, folders, [path, *arguments])
        return "" if code == 0 else program + " refuses these files: " + _words(output)

    return ask


def _scripts(module, staged):
    """sh -n, for scripts that others run: an error there shows when it is too late."""
    wrong = []
    for file in staged.files:
        first = file["content"].split(b"\n", 1)[0]
        match = re.match(rb"#!(/\S*/)?(?:env )?(ba|da)?sh\b", first)
        if match:
            place = staged.place + "/script"
            with open(place, "wb") as opened:
                opened.write(file["content"])
            # Patterns that a script switches on for itself are read before it does.
            shell = ["bash", "-O", "extglob"] if b"bash" in first else ["sh"]
            code, out, err = module.run_command([*shell, "-n", place])
            if code:
                wrong.append(file["target"] + ": " + _words((out + err).replace(place, file["target"])))
    return "; ".join(wrong)


_CHRONY = "/etc/chrony/chrony.conf" if os.path.isdir("/etc/chrony") else "/etc/chrony.conf"
# name, what a changed file's path begins with, the trial
TRIALS = (
    ("slurmctld", "/etc/slurm/", slurmctld),
    ("slurmd", "/etc/slurm/", slurmd),
    ("slurmdbd", "/etc/slurm/slurmdbd", slurmdbd),
    ("prometheus", "/etc/prometheus/", _asked("promtool", ["/etc/prometheus"], ["check", "config", "/etc/prometheus/prometheus.yml"])),
    ("alertmanager", "/etc/prometheus/alertmanager", _asked("amtool", ["/etc/prometheus"], ["check-config", "/etc/prometheus/alertmanager.yml"])),
    ("alertmanager", "/etc/alertmanager/", _asked("amtool", ["/etc/alertmanager"], ["check-config", "/etc/alertmanager/alertmanager.yml"])),
    ("chrony", "/etc/chrony", _asked("chronyd", ["/etc/chrony"], ["-p", "-f", _CHRONY])),
    ("sshd", "/etc/ssh/", _asked("sshd", ["/etc/ssh"], ["-t"])),
    ("sudo", "/etc/sudoers.d/", _asked("visudo", ["/etc/sudoers.d"], ["-c"])),
)  # fmt: skip


def run(module, files, removed, without):
    """What is wrong with `files`, one text per parser, and the names of parsers that are not here.

    files: [{"target", "content", "mode"}]; `without`: names of trials that this node has no part in.
    """
    wrong, absent = [], []
    targets = [file["target"] for file in files] + list(removed)
    with Staged(files, removed) as staged:
        said = _scripts(module, staged)
        if said:
            wrong.append(said)
    for name, start, trial in TRIALS:
        if name in without or not any(target.startswith(start) for target in targets):
            continue
        began = time.monotonic()
        with Staged(files, removed) as staged:  # each its own: a trial may change its copy
            said = trial(module, staged)
        if said is None:
            absent.append(name)
        elif said:
            wrong.append(said if time.monotonic() - began < SECONDS else said + " (after %d s)" % SECONDS)
    return wrong, absent
