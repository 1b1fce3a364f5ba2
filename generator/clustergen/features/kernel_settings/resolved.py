"""Kernel settings, as resolved."""

from __future__ import annotations

from clustergen.cluster.host import KernelSettings
from clustergen.cluster.model import Cluster
from clustergen.manifest.host import Host


def resolve(section: Host, _: Cluster) -> KernelSettings:
    return KernelSettings({key: str(value) for key, value in section.sysctl.items()}, section.hugepages)


RECORDS = {KernelSettings: resolve}
