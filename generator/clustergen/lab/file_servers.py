"""Storage servers, which a lab leaves out: their targets are disks, and their kernel modules no container can load."""

from __future__ import annotations

from typing import Any

from clustergen.cluster.groups import targets_on
from clustergen.cluster.model import Cluster
from clustergen.hostlist import expand
from clustergen.lab.scale import roles_of, scaled

Document = dict[str, Any]


def hosts(cluster: Cluster) -> set[str]:
    """Nodes without roles on which targets are created."""
    groups = [group for group in cluster.groups if not group.roles and targets_on(cluster, group)]
    return {host for group in groups for host in group.hosts}


def remove(document: Document, cluster: Cluster) -> None:
    """Removes these nodes, and what file systems state of their targets; clients get directories in any case."""
    servers = hosts(cluster)
    for name, entry in cluster.storage.items():
        if not servers.isdisjoint(entry.server_hosts):
            for key in ("targets", "servers", "failover"):
                document["storage"][name].pop(key, None)
    sizes: dict[str | None, int] = {
        node["name"]: 0
        for node in document["nodes"]
        if not roles_of(node) and not servers.isdisjoint(expand(node["name"]))
    }
    smaller = scaled(document, sizes)
    document.clear()
    document.update(smaller)
