"""Contributions of the fabric to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Package
from clustergen.cluster.model import Cluster


def packages(_: Cluster) -> Iterator[Package]:
    yield Package("fabric_node", "rdma")
