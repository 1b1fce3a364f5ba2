"""Slurm's daemons on files that are not live yet: slurmctld starts on them, slurmd and slurmdbd read them."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat

from ansible_collections.clustergen.cluster.plugins.module_utils import safe_files
from ansible_collections.clustergen.cluster.plugins.module_utils.staging import words, write

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


def _setting(directory, key):
    """The value of a key in slurm.conf and what lies beside it; None where it stands nowhere."""
    pattern = re.compile(r"^\s*" + key + r"\s*=\s*\"?([^\s\"#]+)", re.IGNORECASE | re.MULTILINE)
    for root, _, names in os.walk(directory):
        for name in sorted(names):
            if name.endswith(".conf") and name not in ("gres.conf", "slurmdbd.conf"):
                with open(os.path.join(root, name), encoding="utf-8", errors="replace") as opened:
                    match = pattern.search(opened.read())
                if match:
                    return match.group(1)
    return None


def _own_places(directory, values, drop=None):
    """Lets the daemon keep its state, log and pid file in the trial's own directory."""
    keys = re.compile(r"^(\s*)(" + "|".join(values) + r")(\s*=).*$", re.IGNORECASE)
    lower = {key.lower(): value for key, value in values.items()}
    for root, _, names in os.walk(directory):
        for name in names:
            if not name.endswith(".conf"):
                continue
            place = os.path.join(root, name)
            with open(place, encoding="utf-8", errors="surrogateescape") as opened:
                status = os.fstat(opened.fileno())
                before = opened.read()
            kept = []
            for line in before.split("\n"):
                match = keys.match(line)
                if match:
                    line = match.group(1) + match.group(2) + "=" + lower[match.group(2).lower()]
                kept.append(drop.sub("", line) if drop else line)
            after = "\n".join(kept)
            if after != before:
                os.unlink(place)  # a link leads to the live file
                content = after.encode("utf-8", "surrogateescape")
                safe_files.create(place, content, stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid))


def _copy_state(saved, state):
    """Copies what slurmctld needs of its state, as the user who owns it: a link in there opens nothing that the user may not read."""
    reading = os.open(saved, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    writing = os.open(state, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    for name in _STATE:
        with contextlib.suppress(OSError):  # absent, or no file of slurmctld's
            safe_files.copy_file(name, reading, writing)


def slurmctld(module, staged):
    """slurmctld starts on the new files beside the one that runs: no network, a copy of what it needs of its state."""
    program = shutil.which("slurmctld", path="/usr/sbin:/usr/bin:/opt/slurm/sbin:/usr/local/sbin")
    if not program:
        return None
    directory = staged.directory("/etc/slurm")
    name = _setting(directory, "SlurmUser") or "root"
    try:
        user = safe_files.account(name)
    except KeyError:
        return "slurmctld rejects these files: SlurmUser " + name + " has no account on this node"
    state = staged.place + "/state"
    os.mkdir(state, 0o700)
    os.chown(state, user.pw_uid, user.pw_gid)
    saved = _setting("/etc/slurm", "StateSaveLocation")
    if saved and os.path.isdir(saved):
        safe_files.as_user(user, lambda: _copy_state(saved, state))
    has_state = os.path.lexists(state + "/assoc_mgr_state")
    log = staged.place + "/slurmctld.log"
    logs = dict.fromkeys(("SlurmctldLogFile", "SlurmSchedLogFile"), log)
    logs.update(SlurmctldPidFile=staged.place + "/slurmctld.pid", StateSaveLocation=state)
    # A controller that never ran knows no accounts yet, and none can be asked from in here.
    unknown = None if has_state else _ACCOUNTING
    _own_places(directory, logs, unknown)
    safe_files.create(log, b"", 0o600, (user.pw_uid, user.pw_gid))
    first = re.split(
        r"[(,]", _setting(directory, "SlurmctldHost") or _setting(directory, "ControlMachine") or "localhost"
    )[0]
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
            write(staged.copies + file["target"], file)
    code, output = staged.see(
        module,
        ["/etc/slurm"],
        ["sh", "-c", script, "sh", first, staged.copies, " ".join(hosts), program, log],
        ["--net", "--uts", "--pid", "--fork", "--kill-child"],
    )
    if code == 0:
        return ""
    text = safe_files.read_text(log, 1 << 20)
    fatal = [line for line in text.splitlines() if "fatal:" in line]
    errors = [line for line in text.splitlines() if "error:" in line and "state" not in line]
    return "slurmctld rejects these files: " + words("\n".join([*fatal, *errors[:3]]) or output)


_OF_THE_MACHINE = re.compile(r"Hybrid mode is not supported|cgroup namespace|Mounted cgroups")


def slurmd(module, staged):
    """slurmd lists the GRES of this node as the new files have them."""
    program = shutil.which("slurmd", path="/usr/sbin:/usr/bin:/opt/slurm/sbin:/usr/local/sbin")
    if not program:
        return None
    if not os.path.exists(staged.directory("/etc/slurm") + "/slurm.conf"):
        return ""  # configless: slurmd would ask the controllers, for a minute where none of them runs yet
    _, output = staged.see(module, ["/etc/slurm"], [program, "-G"])
    if not any("fatal:" in line and not _OF_THE_MACHINE.search(line) for line in output.splitlines()):
        return ""
    return "slurmd rejects these files: " + words(output)


def slurmdbd(module, staged):
    """slurmdbd reads its file; it gets as far as the database, which it cannot reach from in here."""
    program = shutil.which("slurmdbd", path="/usr/sbin:/usr/bin:/opt/slurm/sbin:/usr/local/sbin")
    if not program:
        return None
    directory = staged.directory("/etc/slurm")
    _own_places(directory, {"PidFile": staged.place + "/slurmdbd.pid", "LogFile": staged.place + "/slurmdbd.log"})
    script = (
        "for directory in /run/mysqld /var/lib/mysql; do [ ! -d $directory ] || mount -t tmpfs none $directory; done; ip link set lo up\n"
        'exec timeout -k 1 2 "$1" -D -v'
    )
    _, output = staged.see(
        module, ["/etc/slurm"], ["sh", "-c", script, "sh", program], ["--net", "--pid", "--fork", "--kill-child"]
    )
    fatal = [line for line in output.splitlines() if "fatal:" in line and "database" not in line.lower()]
    wrong = [
        line for line in output.splitlines() if re.search(r"Parsing error|unrecognized|Unable to (parse|process)", line)
    ]
    return "slurmdbd rejects its file: " + words("\n".join(wrong + fatal)) if fatal or wrong else ""
