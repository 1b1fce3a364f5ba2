"""Containers in jobs: enroot, and pyxis, the SPANK plugin that gives srun its --container-image."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.containers import pyxis_resolved as resolved
from clustergen.records import record
from clustergen.render.effects import CREATE, Effect
from clustergen.render.file import File
from clustergen.render.formats import CONF, SLURM


@record
class Pyxis:
    plugin: str
    arguments: tuple[str, ...]


@record
class Enroot:
    cache: str


def pyxis(cluster: Cluster) -> Pyxis | None:
    if not cluster.has(resolved.Pyxis):
        return None
    spec = cluster.of(resolved.Pyxis)
    return Pyxis(resolved.PLUGIN, (f"runtime_path={spec.runtime_path}", f"container_scope={spec.scope}"))


def enroot(cluster: Cluster) -> Enroot | None:
    return Enroot(cluster.of(resolved.Pyxis).cache.rstrip("/")) if cluster.has(resolved.Pyxis) else None


FILES: tuple[File, ...] = (
    File("slurm_node/etc/slurm/plugstack.conf.d/pyxis.conf", pyxis, Effect("restart-slurmd"), format=SLURM),
    File("slurm_compute/etc/enroot/enroot.conf", enroot, format=CONF),
    File("slurm_compute/etc/tmpfiles.d/clustergen-enroot.conf", enroot, CREATE),
)
