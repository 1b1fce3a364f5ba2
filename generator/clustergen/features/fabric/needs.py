"""Contributions of the fabric to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Group, Package
from clustergen.cluster.model import Cluster


def packages(_: Cluster) -> Iterator[Package]:
    yield Package("fabric_node", "rdma")


def groups(cluster: Cluster) -> Iterator[Group]:
    groups = cluster.groups if cluster.networks.fabric is not None else ()
    yield Group("fabric_node", tuple(group for group in groups if group.type.fabric_ports()))
