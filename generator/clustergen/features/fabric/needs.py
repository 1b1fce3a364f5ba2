"""Contributions of the fabric to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Group, Package
from clustergen.cluster.model import Cluster, NodeGroup


def packages(_: Cluster) -> Iterator[Package]:
    yield Package("fabric_node", "rdma")


def groups(cluster: Cluster) -> Iterator[Group]:
    def has_port(group: NodeGroup) -> bool:
        return cluster.networks.fabric is not None and bool(group.type.fabric_ports())

    yield Group("fabric_node", has_port)
