"""Contributions of MIG to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import GpuUnit, PackageOf
from clustergen.cluster.model import Cluster, NodeType

UNIT = "nvidia-mig-manager.service"


def is_split(node_type: NodeType) -> bool:
    return node_type.gpus is not None and any(node_type.gpus.mig)


def units(cluster: Cluster) -> Iterator[GpuUnit]:
    for node_type in filter(is_split, cluster.gpu_types):
        yield GpuUnit(node_type.name, UNIT, makes_devices=True)


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf(UNIT, "mig_manager")
