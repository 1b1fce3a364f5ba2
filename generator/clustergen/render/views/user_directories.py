"""Directories of users' containers, created by root: in the prolog, and for Podman at a login without a job."""

from __future__ import annotations

from clustergen.catalogue.system_paths import is_below
from clustergen.cluster.contributions import UserDirectory
from clustergen.cluster.features.containers import Podman
from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.effects import CREATE, DAEMON_RELOAD
from clustergen.render.file import File

_PROGRAM = "usr/local/sbin/clustergen-user-directories"
_SOURCE = "slurm/user-directories.sh"


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


def podman_storage(cluster: Cluster) -> Storage | None:
    return Storage(place) if cluster.has(Podman) and (place := cluster.of(Podman).storage) else None


def in_jobs(cluster: Cluster) -> UserDirectories | None:
    """Also where the site has a prolog of its own, which can call the script."""
    needs = cluster.needs(UserDirectory)
    places = tuple((each.directory, each.name) for each in needs if each.name)
    mounts = tuple((each.directory, each.options) for each in needs if is_below(each.directory, "/run"))
    return UserDirectories(places, mounts) if places else None


def at_login(cluster: Cluster) -> UserDirectories | None:
    storage = podman_storage(cluster)
    return UserDirectories(((storage.directory, "USER"),)) if storage else None


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
