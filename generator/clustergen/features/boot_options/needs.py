"""Contributions of options of the kernel to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import BootKernel, BootOption, Package
from clustergen.cluster.model import Cluster


def packages(cluster: Cluster) -> Iterator[Package]:
    named = {need.node_type for need in (*cluster.needs(BootOption), *cluster.needs(BootKernel))}
    for node_type in cluster.node_types:
        if node_type.name in named:
            yield Package(node_type.group, "boot_loader")
