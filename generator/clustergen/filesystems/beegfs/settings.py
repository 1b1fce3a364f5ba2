"""Lines that clients and servers of BeeGFS have in common."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.filesystems.beegfs.model import Beegfs

Pairs = list[tuple[str, str]]


def uses_rdma(cluster: Cluster, entry: Beegfs) -> bool:
    fabric = cluster.networks.fabric
    return entry.rdma if entry.rdma is not None else fabric is not None and fabric.type != "ethernet"


def yes(value: bool) -> str:
    return "true" if value else "false"
