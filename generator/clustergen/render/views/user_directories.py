"""Directories of users' containers, created by root: in the prolog, and for Podman at a login without a job."""

from __future__ import annotations

from clustergen.catalogue.system_paths import is_below
from clustergen.cluster.features.containers import OciJobs, Podman
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.jobs import Pyxis
from clustergen.records import record
from clustergen.render.effects import CREATE, DAEMON_RELOAD
from clustergen.render.file import File

_PROGRAM = "usr/local/sbin/clustergen-user-directories"
_SOURCE = "slurm/user-directories.sh"
_SMALL = "size=64m,nr_inodes=16k"
"""Of mount points and states of containers."""
_IMAGES = "size=20%,nr_inodes=100k"
"""Of images that pyxis imports: what systemd gives /run."""
_BY_UID, _BY_PREFIX, _BY_NAME = "UID", "user-UID", "USER"


@record
class UserDirectories:
    places: tuple[tuple[str, str], ...]
    """Directory of root, and the name of the user's directory in it: UID and USER stand for the user's."""
    mounts: tuple[tuple[str, str], ...] = ()
    """Directories of root below /run, and options of the tmpfs that each gets."""


@record
class Login:
    program: str


@record
class Storage:
    directory: str


def enroot_directories(cluster: Cluster) -> tuple[tuple[str, str], ...]:
    if not cluster.has(Pyxis):
        return ()
    cache = cluster.of(Pyxis).cache.rstrip("/")
    return tuple((directory, _BY_PREFIX) for directory in ("/run/enroot", f"{cache}/cache", f"{cache}/data"))


def podman_storage(cluster: Cluster) -> Storage | None:
    return Storage(place) if cluster.has(Podman) and (place := cluster.of(Podman).storage) else None


def in_jobs(cluster: Cluster) -> UserDirectories | None:
    """Also where the site has a prolog of its own, which can call the script."""
    places = enroot_directories(cluster)
    if cluster.has(OciJobs):
        places += (("/run/slurm-oci", _BY_UID),)
    storage = podman_storage(cluster)
    if storage and "slurm-compute" in cluster.of(Podman).roles:
        places += ((storage.directory, _BY_NAME),)
    mounts = [(directory, _SMALL) for directory, _ in places if is_below(directory, "/run")]
    if cluster.has(Pyxis) and is_below(cluster.of(Pyxis).runtime_path, "/run"):
        mounts.append((cluster.of(Pyxis).runtime_path, _IMAGES))
    return UserDirectories(places, tuple(mounts)) if places else None


def at_login(cluster: Cluster) -> UserDirectories | None:
    storage = podman_storage(cluster)
    return UserDirectories(((storage.directory, _BY_NAME),)) if storage else None


def login(cluster: Cluster) -> Login | None:
    return Login(f"/{_PROGRAM}") if podman_storage(cluster) else None


FILES: tuple[File, ...] = (
    File("slurm_compute/etc/slurm/prolog.d/45-user-directories", in_jobs, mode=0o755, program=_SOURCE),
    File("slurm_compute/etc/clustergen/job-directories.sh", in_jobs, values=True),
    File(f"podman_node/{_PROGRAM}", at_login, mode=0o755, program=_SOURCE),
    File("podman_node/etc/clustergen/login-directories.sh", at_login, values=True),
    File("podman_node/etc/systemd/system/user-runtime-dir@.service.d/50-clustergen.conf", login, DAEMON_RELOAD),
    File("podman_node/etc/containers/storage.conf", podman_storage),
    File("podman_node/etc/tmpfiles.d/clustergen-podman.conf", podman_storage, CREATE),
)
