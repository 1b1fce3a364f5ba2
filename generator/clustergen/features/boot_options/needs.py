"""Contributions of options of the kernel to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import BootKernel, BootOption, Package
from clustergen.cluster.model import Cluster


def packages(cluster: Cluster) -> Iterator[Package]:
    named = {*cluster.needs_by_type(BootOption), *cluster.needs_by_type(BootKernel)}
    for node_type in cluster.node_types:
        if node_type.name in named:
            yield Package(node_type.group, "boot_loader")
