"""Directories of Podman's users, which root creates at a login without a job."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.containers.resolved import Podman
from clustergen.render.effects import CREATE, DAEMON_RELOAD
from clustergen.render.file import Context, File
from clustergen.render.views.user_directories import SOURCE, UserDirectories

_PROGRAM = "usr/local/sbin/clustergen-user-directories"


def _storage(cluster: Cluster) -> str | None:
    return cluster.of(Podman).storage if cluster.has(Podman) else None


def podman_storage(cluster: Cluster) -> Context | None:
    return {"directory": directory} if (directory := _storage(cluster)) else None


def at_login(cluster: Cluster) -> UserDirectories | None:
    return UserDirectories(((directory, "USER"),)) if (directory := _storage(cluster)) else None


def login(cluster: Cluster) -> Context | None:
    return {"program": f"/{_PROGRAM}"} if _storage(cluster) else None


FILES: tuple[File, ...] = (
    File(f"podman_node/{_PROGRAM}", at_login, mode=0o755, program=SOURCE),
    File("podman_node/etc/clustergen/login-directories.sh", at_login, values=True),
    File("podman_node/etc/systemd/system/user-runtime-dir@.service.d/50-clustergen.conf", login, DAEMON_RELOAD),
    File("podman_node/etc/containers/storage.conf", podman_storage),
    File("podman_node/etc/tmpfiles.d/clustergen-podman.conf", podman_storage, CREATE),
)
