"""Contributions of the subnet manager to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import PackageOf
from clustergen.cluster.model import Cluster


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("opensm.service", "opensm")
