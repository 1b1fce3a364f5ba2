"""Lustre as the nodes see it: the interfaces and addresses that LNet uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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


Nids = Sequence[tuple[str, str]]
"""Host and LNet network of each, as of the MGS."""


def lnet_nets(cluster: Cluster, node_type: NodeType, entries: Iterable[Lustre]) -> tuple[LnetNet, ...]:
    """The LNet networks that nodes of a type need to reach the servers of these file systems, in their order."""
    nets: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        for network in entry.lnet:
            nets.setdefault(canonical(network.name), network.interfaces)
        reachable = {} if entry.lnet else {net: way.interfaces for net, way in ways(cluster, node_type, entry).items()}
        # A server with NIDs on several networks is reached over those that this node has; one of them is enough.
        for net, interfaces in reachable.items():
            if interfaces or not any(reachable.values()):
                nets.setdefault(net, interfaces)
    return tuple(LnetNet(name, interfaces) for name, interfaces in nets.items())


def ways(cluster: Cluster, node_type: NodeType, entry: Lustre) -> dict[str, Way]:
    """LNet network → the way to it, of the servers' networks; of the routers' where a node type has none to those."""
    nids, routed = server_nids(entry), {canonical(route.net) for route in entry.routes}
    direct = {net: way_to(cluster, node_type, nids, net, is_near=net in routed) for net in server_nets(entry)}
    gateways = gateway_nids(entry)
    if any(way.interfaces for way in direct.values()) or not gateways:
        return direct
    return {net: way_to(cluster, node_type, gateways, net) for net in dict.fromkeys(net for _, net in gateways)}


def unreached_nets(cluster: Cluster, node_type: NodeType, entry: Lustre) -> list[str]:
    """Of these networks, those without a known interface; none where the manifest states them."""
    return [] if entry.lnet else [net for net, way in ways(cluster, node_type, entry).items() if not way.interfaces]


def unaddressed_nets(cluster: Cluster, group: NodeGroup, entry: Lustre) -> list[tuple[str, str, tuple[str, ...]]]:
    """The RDMA networks whose interfaces have no address on these nodes, with the key of `addresses` and the
    interfaces: the IP address is a node's NID, so LNet does not start without one. None where the manifest states
    `lnet`: then another system may assign the addresses.
    """
    reached = {} if entry.lnet else ways(cluster, group.type, entry)
    return [(net, way.key, way.interfaces) for net, way in reached.items() if lacks_address(net, way, group)]


def lacks_address(net: str, way: Way, group: NodeGroup) -> bool:
    return net.startswith("o2ib") and bool(way.interfaces) and not addressed_by(way.key, group)


def canonical(net: str) -> str:
    """`o2ib0` and `o2ib` are one network."""
    return net[:-1] if net in ("o2ib0", "tcp0") else net


def _split(nids: Iterable[str]) -> list[tuple[str, str]]:
    return [(host, canonical(net)) for host, _, net in (nid.rpartition("@") for nid in nids)]


def server_nids(entry: Lustre) -> list[tuple[str, str]]:
    """Host and LNet network of every NID of the MGS."""
    return _split(nid for group in entry.mgs for nid in group.split(","))


def gateway_nids(entry: Lustre) -> list[tuple[str, str]]:
    """The same of the routers that lead to the MGS."""
    nets = server_nets(entry)
    return _split(nid for route in entry.routes if canonical(route.net) in nets for nid in route.gateways)


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
        way = way_to(cluster, group.type, server_nids(entry), net)
        rdma = "storage" if group.storage else "fabric"
        key = way.key or (rdma if net.startswith("o2ib") else "management")
        networks = [network for network in ip_networks(cluster) if network.key == key]
        for network in [network for network in networks if network.rail in way.rails] or networks[:1]:
            nids += [f"{address}@{net}" for address in addresses_in(group, network)[position : position + 1]]
    return ",".join(nids)


def places_of(cluster: Cluster, nids: Nids, net: str) -> dict[str, IpNetwork]:
    """The cluster's networks in which the NIDs on an LNet network are, by NID; without NIDs elsewhere."""
    places = {f"{host}@{name}": network_of(cluster, host) for host, name in nids if name == net}
    return {nid: network for nid, network in places.items() if network is not None}


def way_to(cluster: Cluster, node_type: NodeType, nids: Nids, net: str, *, is_near: bool = False) -> Way:
    """The network, and interfaces in it, over which nodes of a type reach the NIDs of an MGS or of routers on an LNet
    network.

    Where all their addresses lie in networks of the cluster that are not routed, only interfaces in those reach them.
    Else these networks come first, then the storage network, then the fabric (RDMA) or management (TCP). A network
    where the nodes have addresses comes before all others: a DGX has storage ports also where none is used. `is_near`:
    only addresses in a network of these NIDs count.
    """
    networks = list(places_of(cluster, nids, net).values())
    places = [network.key for network in networks]
    is_elsewhere = len(networks) < sum(name == net for _, name in nids) or any(each.routed for each in networks)
    if is_elsewhere and not is_near:
        places += ["storage", "fabric" if net.startswith("o2ib") else "management"]
    ways = [_way(cluster, node_type, nids, net, place) for place in dict.fromkeys(places)]
    candidates = [way for way in ways if way.interfaces]
    for way in candidates:
        if any(addressed_by(way.key, group) for group in cluster.of_type[node_type.name]):
            return way
    if candidates and not is_near:
        return candidates[0]
    return Way("", (), (), tuple(port for way in ways for port in way.astray))


def addressed_by(place: str, group: NodeGroup) -> bool:
    """True if nodes have addresses in a network; all have one in the management network."""
    return bool(group.storage if place == "storage" else group.fabric if place == "fabric" else True)


def _way(cluster: Cluster, node_type: NodeType, nids: Nids, net: str, place: str) -> Way:
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
    reaching = [(name, rail) for name, rail in names if not judged or _reaches(cluster, nids, net, on_rail.get(rail))]
    astray = ((name, on_rail[rail].cidr or "") for name, rail in names if (name, rail) not in reaching)
    rails = tuple(rail for _, rail in reaching) if place == "fabric" else ()
    return Way(place, tuple(name for name, _ in reaching), rails, tuple(astray))


def _reaches(cluster: Cluster, nids: Nids, net: str, network: IpNetwork | None) -> bool:
    """True if an interface in a network has a route to the MGS; true where the manifest does not state enough."""
    if network is None or network.cidr is None or network.routed:
        return True
    hosts = [host for host, name in nids if name == net]
    addresses = [resolved(cluster, host) for host in hosts]
    return any(address is None or is_inside(address, network.cidr) for address in addresses)


@once_per_cluster
def _addressed(cluster: Cluster) -> Mapping[str, int]:
    """Node type → how many of its fabric ports have an address: LNet needs one on each port that it uses."""
    return {name: max(1, min(len(group.fabric) for group in groups)) for name, groups in cluster.of_type.items()}
