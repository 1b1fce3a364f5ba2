"""Contributions of interfaces to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Package
from clustergen.cluster.interfaces import configured
from clustergen.cluster.model import Cluster


def packages(cluster: Cluster) -> Iterator[Package]:
    if configured(cluster):
        yield Package("all", "network")
    if any(network.bond for network in configured(cluster).values()):
        yield Package("all", "bond")
