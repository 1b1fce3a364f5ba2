"""The nodes' interfaces in the networks that the manifest configures: names, ports of a bond, VLAN, routes.

Everything here is the same on all nodes of a type, but for the address, which a node finds by its own name.
"""

from __future__ import annotations

from ipaddress import ip_network

from clustergen.cluster.ip_networks import IpNetwork, addresses_in, ip_networks
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.networks import HostNetwork, ManagementNetwork
from clustergen.records import record

NETWORKS = ("management", "storage")
_DEFAULT = {4: "0.0.0.0/0", 6: "::/0"}


@record
class HostInterface:
    """The interface of a node type in one network."""

    network: str  # key of `networks`
    suffix: str  # what a node's name ends in there
    name: str  # has the address
    parent: str  # of a VLAN interface; empty without a VLAN
    vlan: int | None
    bond: str  # name of the bond that this network defines; empty without one
    mode: str  # of the bond
    ports: tuple[str, ...]  # of the bond
    mtu: int | None
    version: int  # of IP
    prefix_length: int
    gateway: str  # of the default route; empty: none
    routes: tuple[tuple[str, str], ...]  # network and router
    dns: tuple[str, ...]
    domain: str

    @property
    def devices(self) -> tuple[str, ...]:
        """Interfaces that must exist before: ports of the machine, or one that another network defines."""
        return self.ports or (self.parent or self.name,)

    @property
    def defined(self) -> tuple[str, ...]:
        """All interfaces that the files of this network configure."""
        return tuple(dict.fromkeys((*self.devices, *filter(None, (self.bond,)), self.name)))


@record
class Member:
    """One interface that a network's files define; those without the address are ports of a bond, or below a VLAN."""

    kind: str  # ethernet, bond or vlan
    name: str
    is_port: bool  # of the bond


@record
class Interface:
    """The interface of one network, with all that its files define."""

    interface: HostInterface
    members: tuple[Member, ...]
    routes: tuple[tuple[str, str], ...]  # network and router, the default route first


def configured(cluster: Cluster) -> dict[str, HostNetwork]:
    """Networks whose interfaces the manifest configures, by their key."""
    networks = cluster.networks
    both = {"management": networks.management, "storage": networks.storage}
    return {key: network for key, network in both.items() if network is not None and network.configure}


def type_ports(node_type: NodeType, key: str) -> tuple[str, ...]:
    """Interfaces of the ports that the manifest lists for a node type in a network; the catalogue's are a guess."""
    ports = node_type.ports if "nics" in node_type.stated else ()
    return tuple(port.interface or port.device for port in ports if port.network == key)


def management_interface(cluster: Cluster, node_type: NodeType) -> str | None:
    """The interface of the node type's own ports, else of the network; the catalogue's guess is too weak to
    insist on.
    """
    return next(iter(type_ports(node_type, "management")), cluster.networks.management.interface)


def uses(cluster: Cluster, node_type: NodeType, key: str) -> bool:
    """True if nodes of a type have an interface in a network: all have one in the management network."""
    network = next(network for network in ip_networks(cluster) if network.key == key)
    return key == "management" or any(addresses_in(group, network) for group in cluster.of_type[node_type.name])


def host_interfaces(cluster: Cluster, node_type: NodeType) -> tuple[HostInterface, ...]:
    """The interfaces of a node type, by network. Networks with incomplete values are left out; a rule reports them."""
    networks = {network.key: network for network in ip_networks(cluster)}
    rows = (
        _interface(node_type, networks[key], network)
        for key, network in configured(cluster).items()
        if uses(cluster, node_type, key)
    )
    return tuple(row for row in rows if row is not None)


def _interface(node_type: NodeType, place: IpNetwork, network: HostNetwork) -> HostInterface | None:
    names = _names(network, type_ports(node_type, place.key))
    if names is None or network.cidr is None:
        return None
    name, parent, ports = names
    cidr = ip_network(network.cidr)
    is_management = isinstance(network, ManagementNetwork)
    return HostInterface(
        network=place.key,
        suffix=place.suffix,
        name=name,
        parent=parent,
        vlan=network.vlan,
        bond=(parent or name) if ports else "",
        mode=network.bond.mode if network.bond else "",
        ports=ports,
        mtu=network.mtu,
        version=cidr.version,
        prefix_length=cidr.prefixlen,
        gateway=(network.gateway or "") if is_management else "",
        routes=tuple((route, network.gateway) for route in network.routes if network.gateway),
        dns=network.dns if isinstance(network, ManagementNetwork) else (),
        domain=(network.domain or "") if is_management else "",
    )


def _names(network: HostNetwork, listed: tuple[str, ...]) -> tuple[str, str, tuple[str, ...]] | None:
    """Interface with the address, parent of the VLAN, ports of the bond; None: not enough is stated.

    `interface` is the name with the address, so a VLAN's is that of its parent and the id: eno1.20.
    """
    end = f".{network.vlan}" if network.vlan else ""
    name = network.interface or ""
    if network.bond:
        ports = network.bond.ports or listed
        if len(ports) < 2 or not name:
            return None
    else:
        ports = ()
        name = listed[0] + end if listed else name
    if not name or not name.endswith(end) or name == end:
        return None
    return name, name.removesuffix(end) if end else "", ports


def interfaces(rows: tuple[HostInterface, ...]) -> tuple[Interface, ...]:
    """All interfaces of a node that is in these networks."""
    return tuple(_with_members(row, rows) for row in rows)


def _with_members(row: HostInterface, rows: tuple[HostInterface, ...]) -> Interface:
    # An interface that another network's files define is not defined again.
    elsewhere = {name for other in rows if other is not row for name in (other.name, other.bond)}
    members = [Member("ethernet", name, bool(row.ports)) for name in row.devices if name not in elsewhere]
    if row.bond:
        members.append(Member("bond", row.bond, False))
    if row.vlan:
        members.append(Member("vlan", row.name, False))
    default = ((_DEFAULT[row.version], row.gateway),) if row.gateway else ()
    return Interface(row, tuple(members), (*default, *row.routes))
