"""What clients and servers of BeeGFS write alike."""

from __future__ import annotations

from clustergen.catalogue.versions import BeegfsVersion
from clustergen.cluster.model import Cluster
from clustergen.filesystems.beegfs.model import Beegfs

NEW_KEYS = BeegfsVersion("8.0")
"""One port key each in place of TCP and UDP ones; no helper daemon; the management server reads TOML."""
Pairs = list[tuple[str, str]]
_PORT = "8008"  # of the management server


def split_port(endpoint: str) -> tuple[str, str]:
    """Host and port of `host:port`; the management server's own port where none is stated, as in an IPv6 address."""
    host, colon, port = endpoint.rpartition(":")
    return (host, port or _PORT) if colon and ":" not in host else (endpoint, _PORT)


def uses_rdma(cluster: Cluster, entry: Beegfs) -> bool:
    fabric = cluster.manifest.networks.fabric
    return entry.rdma if entry.rdma is not None else fabric is not None and fabric.type != "ethernet"


def yes(value: bool) -> str:
    return "true" if value else "false"
