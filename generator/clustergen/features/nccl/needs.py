"""Contributions of NCCL to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import ContainerFile, NeedsPortNames, Variables
from clustergen.cluster.model import Cluster, asked
from clustergen.features.nccl.resolved import Nccl


def variables(cluster: Cluster) -> Iterator[Variables]:
    if cluster.gpu_types:
        yield Variables("GPUs", {"nccl_release": str(cluster.of(Nccl).version)})


def container_files(cluster: Cluster) -> Iterator[ContainerFile]:
    from clustergen.features.nccl.files import FILES  # which validate does not load

    for node_type in cluster.gpu_types:
        for file in FILES:
            if asked(file.view, cluster, node_type):
                yield ContainerFile(node_type.name, f"/{file.path}")


def needs_port_names(cluster: Cluster) -> Iterator[NeedsPortNames]:
    if cluster.networks.has_rdma_fabric:
        for node_type in cluster.node_types:
            if node_type.gpus:
                yield NeedsPortNames("NCCL_IB_HCA", node_type.name)
