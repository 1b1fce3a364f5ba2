"""Failover pairs of NFS as rules and views see them: their entries, their servers, the networks between these."""

from __future__ import annotations

from clustergen.cluster.ip_networks import addresses_in, ip_networks, place_of
from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.filesystems.nfs.model import Nfs

_LINKS = 8  # of knet, Corosync's transport


@once_per_cluster
def _by_server(cluster: Cluster) -> dict[str, dict[str, Nfs]]:
    """NFS entries by their server as written."""
    entries: dict[str, dict[str, Nfs]] = {}
    for name, entry in cluster.manifest.storage.items():
        if isinstance(entry, Nfs):
            entries.setdefault(entry.server, {})[name] = entry
    return entries


@once_per_cluster
def _pair_addresses(cluster: Cluster) -> frozenset[str]:
    return frozenset(
        server for server, entries in _by_server(cluster).items() if any(entry.failover for entry in entries.values())
    )


def shares(cluster: Cluster, pair: Nfs) -> dict[str, Nfs]:
    """Entries that a pair serves: all with its address."""
    return _by_server(cluster)[pair.server]


def is_paired(cluster: Cluster, entry: Nfs) -> bool:
    """True if a failover pair serves the entry."""
    return entry.server in _pair_addresses(cluster)


def rings(cluster: Cluster, hosts: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The addresses of the hosts in each network that all of them are in; Corosync uses the first that works."""
    places = [place for host in hosts if (place := place_of(cluster, host))]
    result = []
    for network in ip_networks(cluster):
        columns = [(addresses_in(group, network), position) for group, position in places]
        if columns and all(addresses for addresses, _ in columns):
            result.append(tuple(addresses[position] for addresses, position in columns))
    return result[:_LINKS]
