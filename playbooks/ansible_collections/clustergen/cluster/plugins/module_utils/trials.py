"""Lets the daemons' own parsers read files that are not live yet."""

from __future__ import annotations

import os
import re
import shutil
import time

from ansible_collections.clustergen.cluster.plugins.module_utils.slurm_trials import slurmctld, slurmd, slurmdbd
from ansible_collections.clustergen.cluster.plugins.module_utils.staging import SECONDS, Staged, words, write


def _asked(program, directories, arguments):
    def ask(module, staged):
        path = shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin:/usr/local/sbin")
        if not path:
            return None
        code, output = staged.see(module, directories, [path, *arguments])
        return "" if code == 0 else program + " rejects these files: " + words(output)

    return ask


def _scripts(module, staged):
    """sh -n, for scripts that others run: an error there shows when it is too late."""
    wrong = []
    for file in staged.files:
        first = file["content"].split(b"\n", 1)[0]
        match = re.match(rb"#!(/\S*/)?(?:env )?(ba|da)?sh\b", first)
        if match:
            place = staged.copies + "/script"
            write(place, dict(file, mode="0600", ids=None))
            # Patterns that a script switches on for itself are read before it does.
            shell = ["bash", "-O", "extglob"] if b"bash" in first else ["sh"]
            code, out, err = module.run_command([*shell, "-n", place])
            if code:
                wrong.append(file["target"] + ": " + words((out + err).replace(place, file["target"])))
    return "; ".join(wrong)


def _zone(_, staged):
    """True if the zone exists: systemd-tmpfiles links to nothing as well, and such a node has UTC."""
    if not os.path.isdir(_ZONES):
        return None
    content = b"".join(file["content"] for file in staged.files if file["target"].startswith(_TIMEZONE))
    wrong = [
        name for name in re.findall(_ZONES + r"/(\S+)", content.decode()) if not os.path.isfile(_ZONES + "/" + name)
    ]
    return "this node has no time zone " + ", ".join(wrong) + "; timedatectl list-timezones shows all" if wrong else ""


_ZONES = "/usr/share/zoneinfo"
_TIMEZONE = "/etc/tmpfiles.d/clustergen-timezone"
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
    ("time zone", _TIMEZONE, _zone),
    ("sshd", "/etc/ssh/", _asked("sshd", ["/etc/ssh"], ["-t"])),
    ("rsyslog", "/etc/rsyslog.d/", _asked("rsyslogd", ["/etc/rsyslog.d"], ["-N1", "-f", "/etc/rsyslog.conf"])),
    ("sudo", "/etc/sudoers.d/", _asked("visudo", ["/etc/sudoers.d"], ["-c"])),
)  # fmt: skip


def run(module, files, removed, without):
    """Errors of `files`, one text per parser, and the names of parsers that are not here.

    files: [{"target", "content", "mode"}]; `without`: names of trials that this node has no part in.
    """
    wrong, absent = [], []
    targets = [file["target"] for file in files] + list(removed)
    with Staged(files, removed) as staged:
        messages = _scripts(module, staged)
        if messages:
            wrong.append(messages)
    for name, start, trial in TRIALS:
        if name in without or not any(target.startswith(start) for target in targets):
            continue
        began = time.monotonic()
        with Staged(files, removed) as staged:  # each its own: a trial may change its copy
            messages = trial(module, staged)
        if messages is None:
            absent.append(name)
        elif messages:
            wrong.append(messages if time.monotonic() - began < SECONDS else messages + " (after %d s)" % SECONDS)
    return wrong, absent
