"""Files below /etc/slurm: configuration, which in a configless cluster only some nodes have, and programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clustergen.cluster.model import Cluster
from clustergen.render.effects import Effect
from clustergen.render.file import File
from clustergen.render.formats import Format

View = Callable[[Cluster], Any]


def configuration(path: str, view: View, effect: Effect, form: Format | None = None) -> tuple[File, File]:
    """A file of /etc/slurm that slurmctld hands out in a configless cluster, where another copy would shadow it."""

    def everywhere(cluster: Cluster) -> Any:
        return None if cluster.slurm.configless else view(cluster)

    def on_servers(cluster: Cluster) -> Any:
        return view(cluster) if cluster.slurm.configless else None

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
