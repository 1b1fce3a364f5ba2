"""NVIDIA's driver and MIG layouts of GPUs, as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.model import Cluster
from clustergen.manifest.model import Manifest
from clustergen.records import record


@record
class DriverModule:
    """Kernel modules of the driver."""

    SECTIONS = ("Gpu",)
    options: Mapping[str, str]  # of the module nvidia
    peermem: bool | None  # None: where DMA-BUF cannot take its place


@record
class MigPlans:
    """Layouts of GPUs."""

    defined: tuple[str, ...]  # names in the manifest
    used: frozenset[str]  # those that node types use


def resolve_mig_plans(manifest: Manifest, _: Cluster) -> MigPlans:
    used: set[str] = set()
    for spec in manifest.node_types.values():
        mig = spec.gpus.mig
        used |= {mig} if isinstance(mig, str) else set(mig.values()) if mig else set()
    return MigPlans(tuple(manifest.gpu.mig_plans), frozenset(used))
