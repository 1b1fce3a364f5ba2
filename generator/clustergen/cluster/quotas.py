"""Where the quotas of a file system are set."""

from __future__ import annotations

from clustergen.cluster.groups import clients_of
from clustergen.cluster.model import Cluster
from clustergen.cluster.nfs import server_of
from clustergen.filesystems import file_system
from clustergen.manifest.mount import Mount
from clustergen.manifest.quotas import Quota


def quotas_of(entry: Mount) -> tuple[Quota, ...]:
    """Empty for a kind of file system whose quotas are not configured."""
    quotas: tuple[Quota, ...] = getattr(entry, "quotas", ())
    return quotas


def quota_host(cluster: Cluster, name: str, entry: Mount) -> str:
    """The server, or the client that sets limits: the first login node, else the first client; empty: there is none."""
    if file_system(entry.type).quotas == "server":
        server = server_of(cluster, entry)
        return server.host if server else ""
    groups = sorted(clients_of(cluster, name), key=lambda group: not group.has("login"))
    return groups[0].hosts[0] if groups and not entry.read_only else ""
