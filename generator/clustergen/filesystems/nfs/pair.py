"""Failover pairs of NFS as rules and views see them: their entries, their servers, the networks between these."""

from __future__ import annotations

from clustergen.cluster.ip_networks import addresses_in, ip_networks
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.filesystems.nfs.model import Nfs

_LINKS = 8  # of knet, Corosync's transport


def shares(cluster: Cluster, pair: Nfs) -> dict[str, Nfs]:
    """Entries that a pair serves: all with its address."""
    entries = cluster.manifest.storage.items()
    return {name: entry for name, entry in entries if isinstance(entry, Nfs) and entry.server == pair.server}


def group_of(cluster: Cluster, host: str) -> tuple[NodeGroup, int] | None:
    """The entry of the manifest that a host is in, and its place there."""
    return next(((group, group.hosts.index(host)) for group in cluster.groups if host in group.hosts), None)


def rings(cluster: Cluster, hosts: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The addresses of the hosts in each network that all of them are in; Corosync uses the first that works."""
    places = [place for host in hosts if (place := group_of(cluster, host))]
    result = []
    for network in ip_networks(cluster):
        columns = [(addresses_in(group, network), position) for group, position in places]
        if columns and all(addresses for addresses, _ in columns):
            result.append(tuple(addresses[position] for addresses, position in columns))
    return result[:_LINKS]
