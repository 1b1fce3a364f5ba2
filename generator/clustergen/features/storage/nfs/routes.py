"""NFS: entries that nodes of the cluster serve, the name by which clients mount them, and pairs of servers."""

from __future__ import annotations

from collections.abc import Sequence

from clustergen.cluster.exports import Server, server_of
from clustergen.cluster.host import HostsFile
from clustergen.cluster.ip_networks import (
    IpNetwork,
    addresses_in,
    carries_rdma,
    ip_networks,
    is_inside,
    is_on,
    place_of,
)
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.features.storage.nfs.resolved import Failover, Nfs
from clustergen.hostlist.addresses import address_of
from clustergen.records import record

_LINKS = 8  # of knet, Corosync's transport


@record
class Route:
    """How clients mount an entry."""

    server: str  # name or address
    network: IpNetwork


def served(cluster: Cluster) -> dict[str, Nfs]:
    """Entries that nodes of this cluster serve."""
    return {name: entry for name, entry in cluster.entries(Nfs).items() if server_of(cluster, entry) is not None}


def is_chosen(entry: Nfs, server: Server) -> bool:
    """True if the manifest names one network: by an address, or by a name that only one network has."""
    return bool(server.network.suffix) or entry.server in addresses_in(server.group, server.network)


def routes(cluster: Cluster, entry: Nfs, server: Server) -> list[Route]:
    """The ways to the server that carry the entry's transport, best first; the manifest's alone where it names one."""
    result = []
    chosen = is_chosen(entry, server)
    for network in [server.network] if chosen else _preferred(cluster, entry, server):
        addresses = addresses_in(server.group, network)
        rdma = carries_rdma(cluster, server.group.type, network)
        if not is_on(server.group, network) or (entry.rdma and rdma is False):
            continue
        if chosen or not network.suffix:
            name = entry.server
        elif cluster.of(HostsFile).is_rendered:
            name = f"{server.host}{network.suffix}"
        else:
            name = addresses[server.position]
        result.append(Route(name, network))
    return result


def _preferred(cluster: Cluster, entry: Nfs, server: Server) -> list[IpNetwork]:
    """TCP: management first, by the server's own name. RDMA: storage ports that surely have it, then the fabric."""
    networks = list(ip_networks(cluster))
    if entry.rdma:
        node_type = server.group.type
        networks.sort(
            key=lambda net: (
                not carries_rdma(cluster, node_type, net),
                ("storage", "fabric", "management").index(net.key),
            )
        )
    return networks


def admits(entry: Nfs, group: NodeGroup, network: IpNetwork) -> bool:
    """True if the export is open to a host of the group at least, as it comes from a network."""
    if not entry.export.networks:
        return True
    addresses = [address for text in addresses_in(group, network) if (address := address_of(text))]
    return not addresses or any(is_inside(address, cidr) for address in addresses for cidr in entry.export.networks)


def route(cluster: Cluster, entry: Nfs, clients: Sequence[NodeGroup]) -> Route | None:
    """How these clients mount an entry that a node serves: the first way that all of them have; None: there is none."""
    server = server_of(cluster, entry)
    if server is None:
        return None
    for candidate in routes(cluster, entry, server):
        if all(is_on(group, candidate.network) and admits(entry, group, candidate.network) for group in clients):
            return candidate
    return None


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
