"""Lustre as the nodes see it: the interfaces and addresses that LNet uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clustergen.cluster.fabric import has_rdma
from clustergen.cluster.ip_networks import (
    IpNetwork,
    addresses_in,
    ip_networks,
    is_inside,
    network_of,
    place_of,
    resolved,
)
from clustergen.cluster.model import Cluster, NodeGroup, NodeType, once_per_cluster
from clustergen.features.storage.lustre.resolved import LnetNet, Lustre
from clustergen.records import record


@record
class Way:
    """How nodes of a type reach the MGS on one LNet network; no interfaces: the manifest shows none that does."""

    key: str  # of `networks`; empty: none
    interfaces: tuple[str, ...]
    rails: tuple[int, ...] = ()  # of the interfaces, in the fabric
    astray: tuple[tuple[str, str], ...] = ()  # interface and network of ports without a route to the MGS


def lnet_nets(cluster: Cluster, node_type: NodeType, entries: Iterable[Lustre]) -> tuple[LnetNet, ...]:
    """The LNet networks that nodes of a type need to reach the servers of these file systems, in their order."""
    nets: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        for network in entry.lnet:
            nets.setdefault(canonical(network.name), network.interfaces)
        if entry.lnet:
            continue
        reachable = {net: way_to(cluster, node_type, entry, net).interfaces for net in server_nets(entry)}
        # A server with NIDs on several networks is reached over those that this node has; one of them is enough.
        for net, interfaces in reachable.items():
            if interfaces or not any(reachable.values()):
                nets.setdefault(net, interfaces)
    return tuple(LnetNet(name, interfaces) for name, interfaces in nets.items())


def unreached_nets(cluster: Cluster, node_type: NodeType, entry: Lustre) -> list[str]:
    """The servers' LNet networks without a known interface of a node type; none where the manifest states them."""
    return (
        []
        if entry.lnet
        else [net for net in server_nets(entry) if not way_to(cluster, node_type, entry, net).interfaces]
    )


def unaddressed_nets(cluster: Cluster, group: NodeGroup, entry: Lustre) -> list[tuple[str, str, tuple[str, ...]]]:
    """The servers' RDMA networks whose interfaces have no address on these nodes, with the key of `addresses` and the
    interfaces: the IP address is a node's NID, so LNet does not start without one. None where the manifest states
    `lnet`: then another system may assign the addresses.
    """
    result = []
    for net in server_nets(entry) if not entry.lnet else ():
        way = way_to(cluster, group.type, entry, net)
        if net.startswith("o2ib") and way.interfaces and not addressed_by(way.key, group):
            result.append((net, way.key, way.interfaces))
    return result


def canonical(net: str) -> str:
    """`o2ib0` and `o2ib` are one network."""
    return net[:-1] if net in ("o2ib0", "tcp0") else net


def server_nids(entry: Lustre) -> list[tuple[str, str]]:
    """Host and LNet network of every NID of the MGS."""
    nids = [nid for group in entry.mgs for nid in group.split(",")]
    return [(host, canonical(net)) for host, _, net in (nid.rpartition("@") for nid in nids)]


def server_nets(entry: Lustre) -> list[str]:
    return list(dict.fromkeys(net for _, net in server_nids(entry)))


def nids_of(cluster: Cluster, host: str, entry: Lustre) -> str:
    """The NIDs of a node on the networks of the MGS, as `10.1.0.21@o2ib,10.0.0.21@tcp`; empty without an address."""
    place = place_of(cluster, host)
    if place is None:
        return ""
    group, position = place
    nids = []
    for net in server_nets(entry):
        way = way_to(cluster, group.type, entry, net)
        rdma = "storage" if group.storage else "fabric"
        key = way.key or (rdma if net.startswith("o2ib") else "management")
        networks = [network for network in ip_networks(cluster) if network.key == key]
        for network in [network for network in networks if network.rail in way.rails] or networks[:1]:
            nids += [f"{address}@{net}" for address in addresses_in(group, network)[position : position + 1]]
    return ",".join(nids)


def server_places(cluster: Cluster, entry: Lustre, net: str) -> dict[str, IpNetwork]:
    """The cluster's networks in which the MGS has its NIDs on an LNet network, by NID; without NIDs elsewhere."""
    places = {f"{host}@{name}": network_of(cluster, host) for host, name in server_nids(entry) if name == net}
    return {nid: network for nid, network in places.items() if network is not None}


def way_to(cluster: Cluster, node_type: NodeType, entry: Lustre, net: str) -> Way:
    """The network, and interfaces in it, over which nodes of a type reach the MGS on an LNet network.

    Where all addresses of the MGS lie in networks of the cluster that are not routed, only interfaces in those reach
    it. Else the MGS's networks come first, then the storage network, then the fabric (RDMA) or management (TCP). A
    network where the nodes have addresses comes before all others: a DGX has storage ports also where none is used.
    """
    networks = list(server_places(cluster, entry, net).values())
    places = [network.key for network in networks]
    if len(networks) < sum(name == net for _, name in server_nids(entry)) or any(each.routed for each in networks):
        places += ["storage", "fabric" if net.startswith("o2ib") else "management"]
    ways = [_way(cluster, node_type, entry, net, place) for place in dict.fromkeys(places)]
    candidates = [way for way in ways if way.interfaces]
    for way in candidates:
        if any(addressed_by(way.key, group) for group in cluster.of_type[node_type.name]):
            return way
    return candidates[0] if candidates else Way("", (), (), tuple(port for way in ways for port in way.astray))


def addressed_by(place: str, group: NodeGroup) -> bool:
    """True if nodes have addresses in a network; all have one in the management network."""
    return bool(group.storage if place == "storage" else group.fabric if place == "fabric" else True)


def _way(cluster: Cluster, node_type: NodeType, entry: Lustre, net: str, place: str) -> Way:
    """The interfaces of a node type in one of the cluster's networks, as far as they have a route to the MGS."""
    networks = cluster.networks
    network = getattr(networks, place)
    rdma = net.startswith("o2ib")
    ports = [port for port in node_type.ports if port.network == place and port.interface]
    if rdma:
        infiniband = place == "fabric" and networks.fabric is not None and networks.fabric.type == "infiniband"
        ports = [port for port in ports if has_rdma(port, infiniband=infiniband)]
    names = [(port.interface or "", port.rail or 0) for port in ports]
    if place == "fabric":
        names = names[: _addressed(cluster)[node_type.name]]
    elif not rdma and len(names) > 1:
        names = []  # one of them has the node's address there, and nothing says which
    if not names and network is not None and network.interface and not (rdma and place != "fabric"):
        names = [(network.interface, 0)]
    on_rail = {each.rail or 0: each for each in ip_networks(cluster) if each.key == place}
    # The kernel routes TCP from ports outside of the fabric; RDMA leaves by the interface of its source address.
    judged = place == "fabric" or (rdma and place == "storage")
    reaching = [(name, rail) for name, rail in names if not judged or _reaches(cluster, entry, net, on_rail.get(rail))]
    astray = ((name, on_rail[rail].cidr or "") for name, rail in names if (name, rail) not in reaching)
    rails = tuple(rail for _, rail in reaching) if place == "fabric" else ()
    return Way(place, tuple(name for name, _ in reaching), rails, tuple(astray))


def _reaches(cluster: Cluster, entry: Lustre, net: str, network: IpNetwork | None) -> bool:
    """True if an interface in a network has a route to the MGS; true where the manifest does not state enough."""
    if network is None or network.cidr is None or network.routed:
        return True
    hosts = [host for host, name in server_nids(entry) if name == net]
    addresses = [resolved(cluster, host) for host in hosts]
    return any(address is None or is_inside(address, network.cidr) for address in addresses)


@once_per_cluster
def _addressed(cluster: Cluster) -> Mapping[str, int]:
    """Node type → how many of its fabric ports have an address: LNet needs one on each port that it uses."""
    return {name: max(1, min(len(group.fabric) for group in groups)) for name, groups in cluster.of_type.items()}
