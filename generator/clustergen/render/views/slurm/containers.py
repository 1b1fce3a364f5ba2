"""Containers in jobs: enroot, and pyxis, the SPANK plugin that gives srun its --container-image."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm import jobs
from clustergen.records import record
from clustergen.render.effects import CREATE, Effect
from clustergen.render.file import File
from clustergen.render.formats import CONF, SLURM
from clustergen.render.slurm_files import configuration


@record
class Plugstack:
    directory: str


@record
class Pyxis:
    plugin: str
    arguments: tuple[str, ...]


@record
class Enroot:
    cache: str


def plugstack(cluster: Cluster) -> Plugstack | None:
    return Plugstack("/etc/slurm/plugstack.conf.d/*.conf") if cluster.has(jobs.Pyxis) else None


def pyxis(cluster: Cluster) -> Pyxis | None:
    if not cluster.has(jobs.Pyxis):
        return None
    spec = cluster.of(jobs.Pyxis)
    return Pyxis(jobs.PYXIS_PLUGIN, (f"runtime_path={spec.runtime_path}", f"container_scope={spec.scope}"))


def enroot(cluster: Cluster) -> Enroot | None:
    return Enroot(cluster.of(jobs.Pyxis).cache.rstrip("/")) if cluster.has(jobs.Pyxis) else None


FILES: tuple[File, ...] = (
    *configuration("plugstack.conf", plugstack, Effect("restart-slurmd"), SLURM),
    File("slurm_node/etc/slurm/plugstack.conf.d/pyxis.conf", pyxis, Effect("restart-slurmd"), format=SLURM),
    File("slurm_compute/etc/enroot/enroot.conf", enroot, format=CONF),
    File("slurm_compute/etc/tmpfiles.d/clustergen-enroot.conf", enroot, CREATE),
)
