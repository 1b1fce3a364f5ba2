#!/usr/bin/python3
"""Shutdown by UPS: completes the files of Network UPS Tools, and carries out the events of upssched on the server.

configure       write NUT's files with the passwords of this node
is-fed          exit status 0 on a node that a UPS feeds
drain           on battery: the nodes that would go off get no new jobs
requeue         before the shutdown: their jobs are requeued, or get SIGTERM
shutdown-NAME   order the shutdown of what a UPS feeds
online          power is back: resume the nodes that are fed again
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

SETTINGS: dict[str, Any] = json.loads(Path("/etc/clustergen/ups.json").read_text(encoding="utf-8"))
FEEDS: dict[str, list[str]] = SETTINGS["feeds"]
MINIMUM: dict[str, int] = SETTINGS["minimum"]
SOURCE = Path("/etc/clustergen/nut")
REASON = "UPS on battery"
PATIENCE = 30  # seconds for an answer
os.environ["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def secret(name: str) -> str:
    text = (SOURCE / name).read_text(encoding="utf-8").strip()
    if not text or not text.isprintable() or set(text) & set('"\\ #'):
        sys.exit(f"{SOURCE / name}: write one word without quotes, \\ and #")
    return text


def completed(name: str, text: str) -> str:
    """A file with passwords in place of their names. upsmon gets the UPS that feed this node, and how many it needs."""
    if name == "upsmon.conf":
        host = socket.gethostname().partition(".")[0]
        others = tuple(f"MONITOR {ups}@" for ups, hosts in FEEDS.items() if host not in hosts)
        text = "".join(line for line in text.splitlines(True) if not line.startswith(others))
        text = text.replace("MINSUPPLIES 1", f"MINSUPPLIES {MINIMUM.get(host, 1)}")
        role = "primary" if (SOURCE / "upsd.users").exists() else "secondary"
        return text.replace("@LOGIN@", f'{role} "{secret(role)}" {role}')
    for word in ("primary", "secondary", "community", "authentication", "privacy"):
        mark = f"@{word.upper()}@"
        text = text.replace(mark, secret(word)) if mark in text else text
    return text


def configure() -> None:
    """Each file takes the place of the previous one as a whole: NUT may read it at any time."""
    directory = Path(SETTINGS["directory"])
    texts = {path.name: completed(path.name, path.read_text(encoding="utf-8")) for path in SOURCE.glob("*.conf")}
    texts.update({path.name: completed(path.name, path.read_text(encoding="utf-8")) for path in SOURCE.glob("*.users")})
    texts["nut.conf"] = f"MODE={'netserver' if 'upsd.users' in texts else 'netclient'}\n"
    for name, text in texts.items():
        path, draft = directory / name, directory / f".{name}.clustergen"
        draft.unlink(missing_ok=True)
        draft.touch(0o640, exist_ok=False)
        draft.write_text(text, encoding="utf-8")
        shutil.chown(draft, "root", directory.group())
        draft.replace(path)


def ask(*lines: str) -> list[str]:
    """The answers of upsd, one for each line."""
    with socket.create_connection(("localhost", SETTINGS["port"]), PATIENCE) as connection:
        stream = connection.makefile("rw", encoding="utf-8")
        answers = []
        for line in lines:
            stream.write(f"{line}\n")
            stream.flush()
            answers.append(stream.readline().strip())
        return answers


def at_risk() -> set[str]:
    """Hosts whose UPS that are neither on battery nor ordered to stop are too few."""
    failing = set()
    for ups in FEEDS:
        (answer,) = ask(f"GET VAR {ups} ups.status")
        if {"OB", "FSD"} & set(answer.replace('"', " ").split()):
            failing.add(ups)
    left = Counter(host for ups, hosts in FEEDS.items() if ups not in failing for host in hosts)
    return {host for hosts in FEEDS.values() for host in hosts if left[host] < MINIMUM.get(host, 1)}


def slurm(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


def compute(hosts: set[str]) -> str:
    """The compute nodes among the hosts, as Slurm lists them; empty where there is none, or no Slurm."""
    return ",".join(sorted(hosts & set(SETTINGS["compute"]))) if shutil.which("scontrol") else ""


def reasons() -> dict[str, str]:
    """Nodes of Slurm with the reason of their state; `none` without one."""
    answer = slurm("sinfo", "--noheader", "--Node", "--format=%N|%E")
    if answer.returncode:
        sys.exit(answer.stderr.strip())
    return dict(line.strip().split("|", 1) for line in answer.stdout.splitlines())


def drain() -> None:
    """Nodes that have a reason keep it, as they would be resumed without it."""
    if compute(hosts := at_risk()):
        others = {name for name, reason in reasons().items() if reason not in ("none", REASON)}
        if nodes := compute(hosts - others):
            slurm("scontrol", "update", f"nodename={nodes}", "state=drain", f"reason={REASON}")


def requeue() -> None:
    drain()
    if nodes := compute(at_risk()):
        for job in slurm("squeue", "--noheader", "--states=R", "--format=%A", f"--nodelist={nodes}").stdout.split():
            if slurm("scontrol", "requeue", job).returncode:
                slurm("scancel", "--full", "--signal=TERM", job)


def shut_down(ups: str) -> None:
    answers = ask("USERNAME primary", f"PASSWORD {secret('primary')}", f"LOGIN {ups}", f"PRIMARY {ups}", f"FSD {ups}")
    if not answers[-1].startswith("OK"):
        sys.exit(f"upsd refuses the shutdown of {ups}: {answers[-1]}")


def online() -> None:
    """An ordered shutdown stays in upsd until it is restarted: a node that comes back would stop again."""
    status = [ask(f"GET VAR {ups} ups.status")[0].replace('"', " ").split() for ups in FEEDS]
    if any("FSD" in words and "OL" in words for words in status):
        subprocess.run(("systemctl", "restart", "nut-server.service"), timeout=PATIENCE, check=True)
        subprocess.run(
            ("systemctl", "start", "--no-block", "clustergen-ups-resume.service"), timeout=PATIENCE, check=True
        )
        sys.exit("upsd is restarted: ask again")
    if not shutil.which("scontrol"):
        return
    drained = {name for name, reason in reasons().items() if reason == REASON}
    if nodes := compute(drained - at_risk()):
        slurm("scontrol", "update", f"nodename={nodes}", "state=resume")


def main(command: str) -> None:
    if command.startswith("shutdown-"):
        shut_down(command.partition("-")[2])
    elif command == "is-fed":
        sys.exit(0 if any(socket.gethostname().partition(".")[0] in hosts for hosts in FEEDS.values()) else 1)
    else:
        {"configure": configure, "drain": drain, "requeue": requeue, "online": online}[command]()


if __name__ == "__main__":
    main(sys.argv[1])
