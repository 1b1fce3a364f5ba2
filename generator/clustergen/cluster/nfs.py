"""NFS: the node that serves an entry, and the name by which its clients mount it."""

from __future__ import annotations

from collections.abc import Sequence

from clustergen.cluster.features.host import HostsFile
from clustergen.cluster.ip_networks import IpNetwork, addresses_in, carries_rdma, ip_networks, is_inside, is_on, node_of
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.filesystems.nfs.entry import Nfs, listening_port
from clustergen.hostlist.addresses import address_of
from clustergen.records import record


@record
class Server:
    """A node of the cluster as the server of an entry."""

    group: NodeGroup
    position: int  # of the host in its entry of the manifest
    network: IpNetwork  # of the name or address that the manifest states
    chosen: bool  # the manifest names one network: by an address, or by a name that only one network has

    @property
    def host(self) -> str:
        return self.group.hosts[self.position]


@record
class Route:
    """How clients mount an entry."""

    server: str  # name or address
    network: IpNetwork


def server_of(cluster: Cluster, entry: object) -> Server | None:
    """None for a server that is no node of this cluster."""
    node = node_of(cluster, entry.server) if isinstance(entry, Nfs) else None
    if node is None or not isinstance(entry, Nfs):
        return None
    group, position, network = node
    chosen = bool(network.suffix) or entry.server in addresses_in(group, network)
    return Server(group, position, network, chosen)


def serves(cluster: Cluster, group: NodeGroup, entry: object) -> bool:
    """True if a node of the group is the NFS server of the entry, by name, full name or address."""
    server = server_of(cluster, entry)
    return server is not None and server.group.index == group.index


def served(cluster: Cluster) -> dict[str, Nfs]:
    """Entries that nodes of this cluster serve."""
    return {
        name: entry
        for name, entry in cluster.storage.items()
        if isinstance(entry, Nfs) and server_of(cluster, entry) is not None
    }


def answers_quotas(cluster: Cluster, entry: object) -> bool:
    """True if users see their limits on an NFS file system with quota(1); a server elsewhere is assumed to answer."""
    return isinstance(entry, Nfs) and (server_of(cluster, entry) is None or entry.shows_quotas)


def server_port(cluster: Cluster) -> tuple[int, str | None]:
    """The TCP port of the cluster's NFS servers, and the entry that states it."""
    entries = served(cluster)
    stated = (name for name, entry in entries.items() if entry.port_at and not entry.rdma)
    return listening_port(entries.values(), rdma=False), next(stated, None)


def routes(cluster: Cluster, entry: Nfs, server: Server) -> list[Route]:
    """The ways to the server that carry the entry's transport, best first; the manifest's alone where it names one."""
    result = []
    for network in [server.network] if server.chosen else _preferred(cluster, entry, server):
        addresses = addresses_in(server.group, network)
        rdma = carries_rdma(cluster, server.group.type, network)
        if not is_on(server.group, network) or (entry.rdma and rdma is False):
            continue
        if server.chosen or not network.suffix:
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
