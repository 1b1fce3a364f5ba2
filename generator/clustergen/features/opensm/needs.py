"""Contributions of the subnet manager to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Fact, PackageOf, Service
from clustergen.cluster.model import Cluster
from clustergen.cluster.networks import SubnetManager

_RUNS = {"switch": "on a switch", "node": "opensm, not assigned to a node", "ufm": "NVIDIA UFM"}


def services(_: Cluster) -> Iterator[Service]:
    yield Service("subnet_manager", "opensmd?", "opensm_unit")


def facts(cluster: Cluster) -> Iterator[Fact]:
    if manager := cluster.get(SubnetManager):
        hosts = cluster.folded("subnet-manager")
        yield Fact("Subnet manager", f"opensm on {hosts}" if hosts else _RUNS[manager.where])


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("opensm.service", "opensm")
