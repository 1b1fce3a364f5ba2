"""What clients and servers of BeeGFS write alike."""

from __future__ import annotations

from clustergen.catalogue.versions import BeegfsVersion
from clustergen.cluster.model import Cluster
from clustergen.filesystems.beegfs.model import Beegfs

NEW_KEYS = BeegfsVersion("8.0")
"""One port key each in place of TCP and UDP ones; no helper daemon; the management server reads TOML."""
Pairs = list[tuple[str, str]]


def split_port(endpoint: str) -> tuple[str, str | None]:
    """Host and port of `host:port`; an IPv6 address has no port here."""
    host, colon, port = endpoint.rpartition(":")
    return (host, port) if colon and ":" not in host else (endpoint, None)


def uses_rdma(cluster: Cluster, entry: Beegfs) -> bool:
    fabric = cluster.manifest.networks.fabric
    return entry.rdma if entry.rdma is not None else fabric is not None and fabric.type != "ethernet"


def yes(value: bool) -> str:
    return "true" if value else "false"
