"""Files and directories that daemons write: where they may lie, and which of them the tree may create and own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import dirname, normpath
from typing import TYPE_CHECKING

from clustergen.catalogue.system_paths import SystemPath, is_below, is_listed, nearest, plain
from clustergen.cluster.contributions import Use, WrittenPath
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.cluster.slurm.model import ROLES, Slurm
from clustergen.records import record

if TYPE_CHECKING:
    from clustergen.cluster.model import Cluster

_PATTERN = re.compile(r"%.?")
CLOSED = ("kernel", "system", "service")
"""Kinds of directories that hold nothing but files of their owner, at any depth."""
_LOST = {
    "runtime": "which is emptied at every boot",
    "memory": "which every user writes to and every boot empties",
    "temporary": "which every user writes to and which is cleaned at boot or by age",
}

TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")
"""Where users put files of their own on each node."""
SQUATTED = "any user could put a directory in its place"


STATE = Use(
    "the state of slurmctld",
    "/var/lib/slurm/slurmctld",
    "all queued and running jobs would be lost with it",
    role="slurm-controller",
)
SPOOL = Use(
    "the spool directory of slurmd",
    "/var/lib/slurm/slurmd",
    "running jobs would lose their scripts and credentials",
    outlives_boot=False,
    role="slurm-compute",
    per_node=True,
    is_private=True,
)
LOG = Use("the log of {name}", "/var/log/slurm/{name}.log", "the log would be lost with it", is_directory=False)
SLURMD_LOG = Use(LOG.noun, "/var/log/slurmd/{name}.log", LOG.lost, is_directory=False)
"""slurmd is root, so that SlurmUser must not be able to put a link in the place of its log."""
PID = Use(
    "the process id file of {name}",
    "/run/slurm/{name}.pid",
    "any user could put a file in its place",
    outlives_boot=False,
    is_directory=False,
)
SCRATCH = Use("job scratch", "/scratch/jobs", SQUATTED, outlives_boot=False, role="slurm-compute", is_of_jobs=True)
JOBS_LOG = Use(
    "the log of completed jobs",
    "/var/log/slurm/jobs.log",
    "the log would be lost with it",
    is_directory=False,
    role="slurm-controller",
)
MEASURED = Use("the file system of TmpDisk", "/scratch", outlives_boot=False, role="slurm-compute")
COPIES = Use("the copies that sbcast makes", "/tmp", outlives_boot=False, role="slurm-compute", is_private=True)


@record
class Refusal:
    """Why a path cannot hold what a daemon writes; `code` is that of a diagnostic."""

    code: str
    message: str
    hint: str


def log_of(daemon: str) -> Use:
    return SLURMD_LOG if daemon == "slurmd" else LOG


def writers(use: Use, name: str) -> str:
    """The role of the nodes that write to a path; empty where there is none."""
    return use.role or ROLES.get(name, "")


def has_node_name(use: Use, name: str, path: str) -> bool:
    """True if slurmd puts the name of its node into the path."""
    return (use.per_node or name == "slurmd") and ("%n" in path or "%h" in path)


def refusal(use: Use, path: str, name: str = "") -> Refusal | None:
    """Why an absolute path does not suit its use; None where it does. `name`: of the daemon or entry, for the words."""
    place, row = plain(path), nearest(path)
    pattern = _PATTERN.search(path)
    if pattern and not (pattern[0] in ("%n", "%h") and (use.per_node or name == "slurmd")):
        message = f"nothing replaces {pattern[0]} in the path of {use.noun.format(name=name)}"
        return Refusal("path-pattern", message, "write the path without it")
    noun, hint = use.noun.format(name=name), f"write a path of its own, such as {use.example.format(name=name)}"
    may_be_in_etc = use.of_administrator and row.path == "/etc" and dirname(place) != "/etc"
    if place == row.path or (row.kind in CLOSED and not may_be_in_etc):
        what = "directory" if use.is_directory else "file"
        return Refusal("path-of-system", f"{whose(path)}, and {noun} needs a {what} of its own", hint)
    if row.kind in _LOST and use.lost and not (row.kind == "runtime" and not use.outlives_boot):
        return Refusal("path-volatile", f"{noun} would be in {row.path}, {_LOST[row.kind]}: {use.lost}", hint)
    return None


def owner(row: SystemPath) -> str:
    """Whose a directory is: `belongs to the operating system`."""
    return {
        "kernel": "holds no files but those of the kernel",
        "system": "belongs to the operating system",
        "service": "belongs to another service",
    }.get(row.kind, "is a directory that other programs use")


def whose(path: str) -> str:
    """Whose an absolute path is, or the directory that it is in."""
    place, row = plain(path), nearest(path)
    if place == row.path or row.kind not in CLOSED:
        return f"{place} {owner(row)}"
    return f"{place} is in {row.path}, which {owner(row)}"


def paths_of(cluster: Cluster) -> Iterator[WrittenPath]:
    """Paths of the manifest that a daemon or script writes."""
    if cluster.has(Slurm):
        yield from _paths_of_slurm(cluster)
    yield from cluster.needs(WrittenPath)


def _paths_of_slurm(cluster: Cluster) -> Iterator[WrittenPath]:
    slurm = cluster.slurm
    if slurm.state_location_at:
        yield WrittenPath(slurm.state_location_at, slurm.state_location, STATE)
    yield WrittenPath(("slurm", "spool_directory"), slurm.spool_directory, SPOOL)
    for name, daemon in slurm.daemons.items():
        if daemon.log_file_at:
            yield WrittenPath(daemon.log_file_at, daemon.log_file, log_of(name), name)
        if daemon.pid_file:
            yield WrittenPath(("slurm", "pid_files", name), daemon.pid_file, PID, name)
    if scratch := cluster.of(Scripts).tmpdir:
        yield WrittenPath(("slurm", "scripts", "tmpdir"), scratch, SCRATCH)


def of_slurm_user(cluster: Cluster) -> frozenset[str]:
    """Directories of SlurmUser on nodes that also run slurmd, which is root; empty where no node runs both."""
    slurm = cluster.slurm
    of_user = ("slurm-controller", "slurm-accounting")
    both = any(group.has("slurm-compute") and any(map(group.has, of_user)) for group in cluster.groups)
    if not both or slurm.user == "root":
        return frozenset()
    daemons = [slurm.daemons[name] for name in ("slurmctld", "slurmdbd")]
    files = [*(daemon.log_file for daemon in daemons), *(daemon.pid_file for daemon in daemons if daemon.pid_file)]
    state = own_directory(slurm.state_location)
    return frozenset(path for path in (state, *map(directory_of, files)) if path)


def directory_of(path: str) -> str | None:
    """The directory of a file as systemd-tmpfiles writes it; None where it is not the daemon's own."""
    return own_directory(dirname(normpath(path)))


def own_directory(path: str) -> str | None:
    """The directory, up to a part with the node's name (`%n`) that slurmd adds itself; None for one of the system."""
    parts = normpath(path).split("/")
    named = next((index for index, part in enumerate(parts) if "%" in part), len(parts))
    parent = "/".join(parts[:named]) or "/"
    if parent.startswith("/var/run/"):
        parent = parent.removeprefix("/var")
    return None if is_listed(parent) or nearest(parent).kind in CLOSED else parent


def state_is_mounted(cluster: Cluster) -> bool:
    return any(is_below(cluster.slurm.state_location, entry.mount) for entry in cluster.storage.values())
