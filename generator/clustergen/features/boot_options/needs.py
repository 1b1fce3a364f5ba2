"""Contributions of options of the kernel to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import BootOption, Package
from clustergen.cluster.model import Cluster


def packages(cluster: Cluster) -> Iterator[Package]:
    named = {option.node_type for option in cluster.needs(BootOption)}
    for node_type in cluster.node_types:
        if node_type.name in named:
            yield Package(node_type.group, "boot_loader")
