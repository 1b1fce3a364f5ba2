"""Failover pairs of NFS as rules and views see them: their entries, and the networks between their servers."""

from __future__ import annotations

from clustergen.cluster.ip_networks import addresses_in, ip_networks, place_of
from clustergen.cluster.model import Cluster
from clustergen.features.storage.nfs.resolved import Failover, Nfs

_LINKS = 8  # of knet, Corosync's transport


def shares(cluster: Cluster, pair: Failover) -> dict[str, Nfs]:
    """Entries that a pair serves: all with its address."""
    return {name: entry for name in pair.shares if isinstance(entry := cluster.storage[name], Nfs)}


def rings(cluster: Cluster, hosts: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The addresses of the hosts in each network that all of them are in; Corosync uses the first that works."""
    places = [place for host in hosts if (place := place_of(cluster, host))]
    result = []
    for network in ip_networks(cluster):
        columns = [(addresses_in(group, network), position) for group, position in places]
        if columns and all(addresses for addresses, _ in columns):
            result.append(tuple(addresses[position] for addresses, position in columns))
    return result[:_LINKS]
