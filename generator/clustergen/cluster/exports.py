"""Directories that nodes of the cluster export: the node of an entry."""

from __future__ import annotations

from clustergen.cluster.entry import Entry
from clustergen.cluster.ip_networks import IpNetwork, node_of
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.records import record


@record
class Server:
    """A node of the cluster as the server of an entry."""

    group: NodeGroup
    position: int  # of the host in its entry of the manifest
    network: IpNetwork  # of the name or address that the manifest states

    @property
    def host(self) -> str:
        return self.group.hosts[self.position]


def server_of(cluster: Cluster, entry: Entry) -> Server | None:
    """None for a server that is no node of this cluster."""
    exported = entry.exported()
    node = node_of(cluster, exported.server) if exported else None
    return Server(*node) if node else None


def serves(cluster: Cluster, group: NodeGroup, entry: Entry) -> bool:
    """True if a node of the group is the server of the entry, by name, full name or address."""
    server = server_of(cluster, entry)
    return server is not None and server.group.index == group.index
