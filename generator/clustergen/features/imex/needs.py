"""Contributions of IMEX to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import GpuUnit, Package
from clustergen.cluster.model import Cluster
from clustergen.cluster.nvlink import domain_nodes

UNIT = "nvidia-imex.service"


def units(cluster: Cluster) -> Iterator[GpuUnit]:
    for node_type in cluster.gpu_types:
        if domain_nodes(node_type) > 1:
            yield GpuUnit(node_type.name, UNIT)


def packages(cluster: Cluster) -> Iterator[Package]:
    for node_type in cluster.gpu_types:
        if domain_nodes(node_type) > 1 and node_type.gpus:
            yield Package(node_type.group, node_type.gpus.driver.purpose("nvidia_imex"))
