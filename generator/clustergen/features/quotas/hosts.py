"""The host that sets the quotas of a file system."""

from __future__ import annotations

from clustergen.cluster.entry import Entry
from clustergen.cluster.exports import server_of
from clustergen.cluster.groups import clients_of
from clustergen.cluster.model import Cluster, once_per_cluster


def quota_host(cluster: Cluster, entry: Entry) -> str:
    """The server, or the client that sets limits: the first login node, else the first client; empty: there is none."""
    if entry.quota_tool().scope == "export":
        server = server_of(cluster, entry)
        return server.host if server else ""
    return "" if entry.read_only else _first_client(cluster, entry.name)


@once_per_cluster
def _first_client(cluster: Cluster, name: str) -> str:
    groups = sorted(clients_of(cluster, name), key=lambda group: not group.has("login"))
    return groups[0].hosts[0] if groups else ""
