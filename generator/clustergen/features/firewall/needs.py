"""Contributions of the firewall to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import PackageOf
from clustergen.cluster.model import Cluster

UNIT = "clustergen-nftables.service"


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf(UNIT, "nftables")
