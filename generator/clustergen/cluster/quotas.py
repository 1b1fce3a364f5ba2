"""Where the quotas of a file system are set."""

from __future__ import annotations

from clustergen.cluster.groups import clients_of
from clustergen.cluster.model import Cluster
from clustergen.cluster.nfs import server_of
from clustergen.filesystems import file_system
from clustergen.filesystems.entry import Entry


def quota_host(cluster: Cluster, entry: Entry) -> str:
    """The server, or the client that sets limits: the first login node, else the first client; empty: there is none."""
    if file_system(entry.type).quotas == "server":
        server = server_of(cluster, entry)
        return server.host if server else ""
    groups = sorted(clients_of(cluster, entry.name), key=lambda group: not group.has("login"))
    return groups[0].hosts[0] if groups and not entry.read_only else ""
