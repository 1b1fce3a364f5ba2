"""Files outside of Slurm that consist of settings: nccl.conf, ucx.conf, units of systemd, sysctl, limits, modprobe."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase

JOBS_READ = (
    ("*/nccl.conf", "NCCL"),
    ("*/ucx/ucx.conf", "UCX"),
    ("*/openmpi-mca-params.conf", "Open MPI"),
    ("/etc/security/limits.d/*", "resource limit"),
    ("/etc/slurm/task_prolog", "environment"),
    ("/etc/clustergen/task-prolog.sh", "environment"),
    ("/etc/profile.d/*", "environment"),
    ("/etc/enroot/*", "Enroot"),
)
"""Pattern of a path on the node → what it sets. Jobs read these files when they start."""

_ASSIGNMENT = re.compile(r"(-?[A-Za-z_][\w.*/-]*)\s*=\s*(.*)")
_SECTION = re.compile(r"\[([^\[\]]+)\]")
_MOST = 12  # settings of one file that are compared one by one; of more, the lines are counted


def read_by_jobs(target: str) -> str | None:
    """The part of the job environment that the file sets, as `NCCL`; None for a file that jobs do not read."""
    return next((what for pattern, what in JOBS_READ if fnmatchcase(target, pattern)), None)


def differing(target: str, old: str, new: str) -> list[tuple[str, str | None, str | None]]:
    """Name, old and new value of each setting that differs; empty for another grammar, and for many settings."""
    before, after = (_settings(target, text) for text in (old, new))
    if before is None or after is None:
        return []
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return [(name, before.get(name), after.get(name)) for name in names] if len(names) <= _MOST else []


def _settings(target: str, text: str) -> dict[str, str] | None:
    """Name → value, those of a repeated name joined in their order; None where a line is no setting."""
    read = next((reader for pattern, reader in _READERS if fnmatchcase(target, pattern)), _assignments)
    values: dict[str, list[str]] = {}
    try:
        for name, value in read(line for raw in text.splitlines() if (line := raw.strip()) and line[0] not in "#;"):
            values.setdefault(name, []).append(value)
    except ValueError:
        return None
    return {name: ", ".join(listed) for name, listed in values.items()}


def _assignments(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """`NAME=VALUE` and `[section]`."""
    section = ""
    for line in lines:
        if heading := _SECTION.fullmatch(line):
            section = f"{heading[1]}."
            continue
        match = _ASSIGNMENT.fullmatch(line)
        if match is None or line.endswith("\\"):
            raise ValueError(line)
        yield section + match[1], match[2]


def _words(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Assignments of a shell, without the quotes around their values."""
    for name, value in _assignments(lines):
        yield name, " ".join(shlex.split(value))


def _limits(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """`DOMAIN TYPE ITEM VALUE`, as limits.conf(5)."""
    for line in lines:
        domain, kind, item, value = line.split()
        yield f"{domain} {kind} {item}", value


def _modprobe(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """`options MODULE NAME=VALUE …`, and other commands of modprobe.d(5) as they are."""
    for line in lines:
        command, *words = line.split()
        if command == "options" and words:
            for word in words[1:]:
                name, _, value = word.partition("=")
                yield f"{words[0]} {name}", value
        else:
            yield line, "yes"


_READERS = (
    ("/etc/clustergen/*.sh", _words),
    ("/etc/security/limits.d/*", _limits),
    ("/etc/modprobe.d/*", _modprobe),
)
