"""Contributions of UCX to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import NeedsPortNames
from clustergen.cluster.model import Cluster
from clustergen.features.ucx.resolved import Ucx


def needs_port_names(cluster: Cluster) -> Iterator[NeedsPortNames]:
    if cluster.of(Ucx).enabled and cluster.networks.has_rdma_fabric:
        for node_type in cluster.node_types:
            yield NeedsPortNames("UCX_NET_DEVICES", node_type.name)
