"""Files below /etc/slurm: configuration, which in a configless cluster only some nodes have, and programs; and what
systemd, tmpfiles and logrotate have of each daemon.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from clustergen.cluster.directories import directory_of
from clustergen.cluster.model import Cluster, asked
from clustergen.records import record
from clustergen.render.effects import Effect
from clustergen.render.file import File, View
from clustergen.render.formats import Format

DIRECTORIES = "slurm_compute/etc/tmpfiles.d/clustergen-slurmd.conf"
ROTATE = "slurm_compute/etc/logrotate.d/slurmd"
"""Templates of all daemons."""


def configuration(path: str, view: View, effect: Effect, form: Format | None = None) -> tuple[File, File]:
    """A file of /etc/slurm that slurmctld hands out in a configless cluster, where another copy would shadow it."""

    def everywhere(cluster: Cluster) -> Any:
        return None if cluster.slurm.configless else asked(view, cluster)

    def on_servers(cluster: Cluster) -> Any:
        return asked(view, cluster) if cluster.slurm.configless else None

    template = f"slurm_node/etc/slurm/{path}"
    return (
        File(template, everywhere, effect, format=form),
        File(f"slurm_conf_server/etc/slurm/{path}", on_servers, effect, format=form, source=template),
    )


def slurm_user(cluster: Cluster) -> str:
    return cluster.slurm.user


def script(
    path: str, is_wanted: Callable[..., bool], program: str = "", *, per_type: bool = False, mode: int = 0o755
) -> File:
    """A program below /etc/slurm, read anew each time it runs."""
    program = program or f"slurm/{path.partition('/etc/slurm/')[2]}.sh"
    return File(path, is_wanted, mode=mode, per="type" if per_type else "cluster", program=program)


def drop_in(group: str, unit: str) -> str:
    return f"{group}/etc/systemd/system/{unit}.service.d/50-clustergen.conf"


@record
class Directories:
    """Lines of tmpfiles.d: path, mode, and owner."""

    directories: tuple[tuple[str, str, str], ...]
    files: tuple[tuple[str, str], ...] = ()
    """Log files in a directory of the system, where their daemon may not create them: path and owner."""


@record
class Log:
    log: str
    """With a `*` for the node's name."""
    daemon: str
    owner: str = ""
    """Who gets the new file, where the daemon may not create it itself."""
    user: str = ""
    """Whose directory the log is in; empty for root's."""


def daemon_directories(daemon: str, cluster: Cluster, others: tuple[tuple[str, str, str], ...] = ()) -> Directories:
    """The directories of a daemon's log and pid file, and others."""
    user = cluster.slurm.user
    log, pid = cluster.slurm.daemons[daemon].log_file, cluster.slurm.daemons[daemon].pid_file
    directories = [directory_of(log), directory_of(pid) if pid else None]
    rows = dict.fromkeys((path, "0755", user) for path in directories if path)
    return Directories((*rows, *others), ((log, user),) if directory_of(log) is None else ())


def log_rotation(daemon: str, cluster: Cluster) -> Log:
    path = cluster.slurm.daemons[daemon].log_file
    user = "" if daemon == "slurmd" else cluster.slurm.user
    lone = directory_of(path) is None
    return Log(re.sub("%[nh]", "*", path), daemon, user if lone else "", "" if lone else user)
