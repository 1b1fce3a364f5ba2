"""The cluster's IP networks: which nodes have addresses in them, by which names, and which one an address is in."""

from __future__ import annotations

from ipaddress import ip_network

from clustergen.cluster.fabric import has_rdma, is_rdma_name, rail_gateway, rail_network, rail_suffix
from clustergen.cluster.host import HostsFile
from clustergen.cluster.model import Cluster, NodeGroup, NodeType, once_per_cluster
from clustergen.hostlist.addresses import Address, address_of
from clustergen.records import record


@record
class IpNetwork:
    """One network with addresses of nodes."""

    name: str  # as messages have it: management, storage, fabric, rail 2
    key: str  # of `networks` in the manifest
    cidr: str | None
    domain: str | None
    rail: int | None = None
    suffix: str = ""  # what the names of nodes end in there
    routed: bool = False  # other networks lead to it


@once_per_cluster
def ip_networks(cluster: Cluster) -> tuple[IpNetwork, ...]:
    """Management, storage, and the fabric: one for each rail that has addresses, or a network of its own."""
    networks = cluster.networks
    management, storage, fabric = networks.management, networks.storage, networks.fabric
    result = [IpNetwork("management", "management", management.cidr, management.domain)]
    if storage is not None:
        routed = storage.gateway is not None
        result.append(IpNetwork("storage", "storage", storage.cidr, storage.domain, suffix="-st", routed=routed))
    if fabric is not None:
        rails = max(1, len(fabric.rails), *(len(group.fabric) for group in cluster.groups))
        for rail in range(rails):
            result.append(
                IpNetwork(
                    name="fabric" if rails == 1 else f"rail {rail}",
                    key="fabric",
                    cidr=rail_network(fabric, rail),
                    domain=fabric.domain,
                    rail=rail,
                    suffix=rail_suffix(fabric, rail),
                    routed=rail_gateway(fabric, rail) is not None,
                )
            )
    return tuple(result)


def addresses_in(group: NodeGroup, network: IpNetwork) -> tuple[str, ...]:
    """The addresses of an entry's hosts in a network, in their order; empty where they have none."""
    if network.rail is not None:
        return group.fabric[network.rail] if network.rail < len(group.fabric) else ()
    return group.storage if network.key == "storage" else group.addresses


def is_on(group: NodeGroup, network: IpNetwork) -> bool:
    """True if hosts are on a network. All are on the management network, also where DNS alone knows their addresses."""
    return network.key == "management" or bool(addresses_in(group, network))


def is_inside(address: Address, cidr: str) -> bool:
    network = ip_network(cidr)
    low, high = int(network.network_address), int(network.broadcast_address)
    return address[0] == network.version and low <= address[1] <= high


@once_per_cluster
def node_of(cluster: Cluster, name: str) -> tuple[NodeGroup, int, IpNetwork] | None:
    """The node that a host name or address is of, its place in its entry, and the network of that name or address."""
    networks = ip_networks(cluster)
    if place := place_of(cluster, name):
        return (*place, networks[0])
    for network, addressed in zip(networks, _addressed(cluster), strict=True):
        short = name.removesuffix(f".{network.domain}") if network.domain else name
        host = short.removesuffix(network.suffix) if short.endswith(network.suffix) else ""
        if place := place_of(cluster, host) or addressed.get(name):
            return (*place, network)
    return None


@once_per_cluster
def _places(cluster: Cluster) -> dict[str, tuple[NodeGroup, int]]:
    """Entry and position of every host."""
    places: dict[str, tuple[NodeGroup, int]] = {}
    for group in cluster.groups:
        for position, host in enumerate(group.hosts):
            places.setdefault(host, (group, position))
    return places


@once_per_cluster
def _addressed(cluster: Cluster) -> tuple[dict[str, tuple[NodeGroup, int]], ...]:
    """Entry and position of every address, by network in the order of `ip_networks`."""
    result = []
    for network in ip_networks(cluster):
        places: dict[str, tuple[NodeGroup, int]] = {}
        for group in cluster.groups:
            for position, address in enumerate(addresses_in(group, network)):
                places.setdefault(address, (group, position))
        result.append(places)
    return tuple(result)


def place_of(cluster: Cluster, host: str) -> tuple[NodeGroup, int] | None:
    """The entry of `nodes` that a host name is in, and its position there."""
    return _places(cluster).get(host)


def network_of(cluster: Cluster, host: str) -> IpNetwork | None:
    """The network that a host name or address is in; None: none of the cluster's, or a name that only DNS knows."""
    if (node := node_of(cluster, host)) is not None:
        return node[2]
    address = resolved(cluster, host)
    if address is None:
        return None
    return next((net for net in ip_networks(cluster) if net.cidr and is_inside(address, net.cidr)), None)


def resolved(cluster: Cluster, host: str) -> Address | None:
    """The address of a host name or address; None: a name that only DNS knows."""
    if (address := address_of(host)) is not None:
        return address
    if (node := node_of(cluster, host)) is not None:
        group, position, network = node
        texts = addresses_in(group, network)
        return address_of(texts[position]) if texts else None
    names = cluster.of(HostsFile).extra.items()
    return next((address_of(text) for text, hosts in names if host in hosts), None)


def carries_rdma(cluster: Cluster, node_type: NodeType, network: IpNetwork) -> bool | None:
    """True if nodes of a type have RDMA on a network; None: their ports there are not described."""
    fabric = cluster.networks.fabric
    if network.key == "fabric":
        return fabric is not None and fabric.type != "ethernet"
    ports = [port for port in node_type.ports if port.network == network.key]
    if not ports:
        return None if network.key == "storage" else False
    return any(has_rdma(port, infiniband=False) and is_rdma_name(port.device) for port in ports)
