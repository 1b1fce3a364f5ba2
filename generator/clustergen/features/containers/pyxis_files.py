"""Containers in jobs: enroot, and pyxis, the SPANK plugin that gives srun its --container-image."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.containers import pyxis_resolved as resolved
from clustergen.render.effects import CREATE
from clustergen.render.file import Context, File
from clustergen.render.formats import CONF


def enroot(cluster: Cluster) -> Context | None:
    return {"cache": cluster.of(resolved.Pyxis).cache.rstrip("/")} if cluster.has(resolved.Pyxis) else None


FILES: tuple[File, ...] = (
    File("slurm_compute/etc/enroot/enroot.conf", enroot, format=CONF),
    File("slurm_compute/etc/tmpfiles.d/clustergen-enroot.conf", enroot, CREATE),
)
