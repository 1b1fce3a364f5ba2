"""Contributions of the subnet manager to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import PackageOf, Service
from clustergen.cluster.model import Cluster


def services(_: Cluster) -> Iterator[Service]:
    yield Service("subnet_manager", "opensmd?")


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("opensm.service", "opensm")
