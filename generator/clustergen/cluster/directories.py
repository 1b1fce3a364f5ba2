"""Files and directories that daemons write: where they may lie, and which of them the tree may create and own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import dirname, normpath
from typing import TYPE_CHECKING

from clustergen.catalogue.system_paths import SystemPath, is_listed, nearest, plain
from clustergen.cluster.dcgm import Dcgm
from clustergen.cluster.features.backups import Backups
from clustergen.cluster.features.containers import Docker, Podman
from clustergen.cluster.features.monitoring import Alertmanager
from clustergen.cluster.slurm.jobs import PrivateTmp, Pyxis, Scripts
from clustergen.cluster.slurm.model import ROLES
from clustergen.diagnostics import ManifestPath
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
_SQUATTED = "any user could put a directory in its place"


@record
class Use:
    """The access that a daemon needs to a path."""

    noun: str
    """What lies there, in a message."""
    example: str
    """A path that suits it: the default, where clustergen has one."""
    lost: str = ""
    """What follows when it disappears or is another user's; empty where it may."""
    outlives_boot: bool = True
    is_directory: bool = True
    of_administrator: bool = False
    """Whether it may lie in a subdirectory of /etc."""
    role: str = ""
    """Of the nodes that write there; empty: of slurmctld, slurmd or slurmdbd, by the name."""
    per_node: bool = False
    """Whether Slurm puts the node's name in the place of %n and %h."""
    is_private: bool = False
    """Whether every node needs its own."""


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
SCRATCH = Use("job scratch", "/scratch/jobs", _SQUATTED, outlives_boot=False, role="slurm-compute")
CACHE = Use("the cache of enroot", "/var/lib/enroot", _SQUATTED, outlives_boot=False, role="slurm-compute")
RUNTIME = Use("the directory of pyxis", "/run/pyxis", _SQUATTED, outlives_boot=False, role="slurm-compute")
JOB_MAP = Use(
    "the job map of the DCGM exporter", "/run/dcgm-job-mapping", _SQUATTED, outlives_boot=False, role="slurm-compute"
)
JOBS_LOG = Use(
    "the log of completed jobs",
    "/var/log/slurm/jobs.log",
    "the log would be lost with it",
    is_directory=False,
    role="slurm-controller",
)
DOCKER = Use(
    "the image store of Docker", "/raid/docker", _SQUATTED, outlives_boot=False, role="slurm-compute", is_private=True
)
PODMAN = Use(
    "the image store of Podman's users",
    "/raid/podman",
    _SQUATTED,
    outlives_boot=False,
    role="slurm-compute",
    is_private=True,
)
PRIVATE_TMP = Use(
    "the /tmp of jobs", "/var/lib/job_container", _SQUATTED, outlives_boot=False, role="slurm-compute", is_private=True
)
MEASURED = Use("the file system of TmpDisk", "/scratch", outlives_boot=False, role="slurm-compute")
COPIES = Use("the copies that sbcast makes", "/tmp", outlives_boot=False, role="slurm-compute")
SECRET = Use(
    "the URL of a receiver",
    "/etc/prometheus/secrets/{name}",
    "alerts would not be delivered without it",
    is_directory=False,
    of_administrator=True,
)


BACKUP_DATABASE = Use(
    "the directory of backups", "/backup/slurm", "the backups would be lost with it", role="slurm-accounting"
)
BACKUP_STATE = Use(BACKUP_DATABASE.noun, BACKUP_DATABASE.example, BACKUP_DATABASE.lost, role="slurm-controller")


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
        message = f"Slurm does not replace {pattern[0]} in the path of {use.noun.format(name=name)}"
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


Place = tuple[ManifestPath, Use, str, str]
"""Field, use, name for the words, and text of a path of the manifest."""


def paths_of(cluster: Cluster) -> Iterator[Place]:
    """Paths of the manifest that a daemon or script writes."""
    yield from _paths_of_slurm(cluster)
    if cluster.has(Docker) and (data := cluster.of(Docker).data):
        yield ("containers", "docker", "data"), DOCKER, "", data
    if cluster.has(Podman) and (storage := cluster.of(Podman).storage):
        yield ("containers", "podman", "storage"), PODMAN, "", storage
    if cluster.has(Dcgm):
        yield ("monitoring", "dcgm", "job_map"), JOB_MAP, "", cluster.of(Dcgm).job_map
    if cluster.has(Backups):
        for use in (BACKUP_DATABASE, BACKUP_STATE):
            yield ("backups", "directory"), use, "", cluster.of(Backups).directory
    for name, receiver in cluster.of(Alertmanager).receivers.items() if cluster.has(Alertmanager) else ():
        for field in ("webhook_url_file", "slack_url_file"):
            if path := getattr(receiver, field):
                yield ("monitoring", "receivers", name, field), SECRET, name, path


def _paths_of_slurm(cluster: Cluster) -> Iterator[Place]:
    slurm = cluster.slurm
    if slurm.state_location_at:
        yield slurm.state_location_at, STATE, "", slurm.state_location
    yield ("slurm", "spool_directory"), SPOOL, "", slurm.spool_directory
    for name, daemon in slurm.daemons.items():
        if daemon.log_file_at:
            yield daemon.log_file_at, log_of(name), name, daemon.log_file
        if daemon.pid_file:
            yield ("slurm", "pid_files", name), PID, name, daemon.pid_file
    if scratch := cluster.of(Scripts).tmpdir:
        yield ("slurm", "scripts", "tmpdir"), SCRATCH, "", scratch
    if cluster.has(PrivateTmp):
        yield ("slurm", "private_tmp", "path"), PRIVATE_TMP, "", cluster.of(PrivateTmp).path
    if cluster.has(Pyxis):
        yield ("slurm", "pyxis", "runtime_path"), RUNTIME, "", cluster.of(Pyxis).runtime_path
        yield ("slurm", "pyxis", "cache"), CACHE, "", cluster.of(Pyxis).cache


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
