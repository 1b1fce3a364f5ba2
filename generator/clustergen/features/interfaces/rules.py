"""Interfaces that the manifest configures: each needs a name, an address that the node can look up, and a way to it."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from clustergen.cluster.host import HostsFile
from clustergen.cluster.interfaces import configured, host_interfaces, type_ports, uses
from clustergen.cluster.ip_networks import ip_networks
from clustergen.cluster.model import Cluster
from clustergen.cluster.networks import HostNetwork
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.hostlist.addresses import address_of
from clustergen.rules.address_space import network_of

_CODE = "interface-not-configurable"
_ETHERNET = 1500  # MTU of a port that nobody sets
_LONGEST = 15  # IFNAMSIZ without the zero byte


def incomplete(cluster: Cluster) -> Iterator[Finding]:
    for key, network in configured(cluster).items():
        path: ManifestPath = ("networks", key)
        if network.cidr is None:
            yield Finding(_CODE, (*path, "configure"), f"the {key} network has no cidr", f"add networks.{key}.cidr")
        if not cluster.of(HostsFile).is_rendered:
            yield Finding(
                _CODE,
                (*path, "configure"),
                "nodes look up their addresses in /etc/hosts, which host.hosts_file turns off",
                "remove host.hosts_file, or configure: true",
            )
        if network.routes and network.gateway is None:
            yield Finding(
                _CODE,
                (*path, "routes"),
                f"the {key} network has no gateway for its routes",
                f"add networks.{key}.gateway",
            )
        yield from _names(cluster, key, network)


def bond_ports(cluster: Cluster) -> Iterator[Finding]:
    """A port counts once in a bond."""
    for key, network in configured(cluster).items():
        ports = network.bond.ports if network.bond else ()
        for index, port in enumerate(ports):
            if port in ports[:index]:
                path: ManifestPath = ("networks", key, "bond", "ports", index)
                yield Finding(_CODE, path, f"'{port}' is listed twice", "list each port of the bond once")


def loopback(cluster: Cluster) -> Iterator[Finding]:
    for node_type in cluster.node_types:
        for row in host_interfaces(cluster, node_type):
            if "lo" in row.defined:
                message = "'lo' is the loopback interface, which reaches no other node"
                path: ManifestPath = ("networks", row.network, "configure")
                yield Finding(_CODE, path, message, "name the port that is cabled")
                return


def vlan_mtu(cluster: Cluster) -> Iterator[Finding]:
    """A VLAN cannot have a larger MTU than the interface below it, which another network configures."""
    for node_type in cluster.node_types:
        rows = host_interfaces(cluster, node_type)
        sizes = {name: row.mtu or _ETHERNET for row in rows for name in row.defined if not row.parent or row.bond}
        for row in rows:
            below = sizes.get(row.parent) if row.parent and not row.bond else None
            if below is not None and row.mtu is not None and row.mtu > below:
                yield Finding(
                    _CODE,
                    ("networks", row.network, "mtu"),
                    f"VLAN interface '{row.name}' of nodes of type '{node_type.name}' cannot have an MTU of {row.mtu}:"
                    f" '{row.parent}' has {below}",
                    f"set mtu: {row.mtu} for the network that configures {row.parent}, or mtu: {below} here",
                )
                return


def _names(cluster: Cluster, key: str, network: HostNetwork) -> Iterator[Finding]:
    """The first node type whose interface has no name."""
    path: ManifestPath = ("networks", key)
    end = f".{network.vlan}" if network.vlan else ""
    if end and network.interface and not network.interface.endswith(end):
        yield Finding(
            _CODE,
            (*path, "interface"),
            f"'{network.interface}' is not the name of an interface with VLAN {network.vlan}",
            f"write the parent's name and the id: {network.interface}{end}",
        )
        return
    for node_type in cluster.node_types:
        if not uses(cluster, node_type, key):
            continue
        ports = type_ports(node_type, key)
        if network.bond and not network.interface:
            yield Finding(
                _CODE, (*path, "bond"), f"the bond of the {key} network has no name", f"add networks.{key}.interface"
            )
            return
        stated = network.bond.ports if network.bond else ()
        if ports and (unknown := [port for port in stated if port not in ports]):
            yield Finding(
                _CODE,
                (*path, "bond", "ports", stated.index(unknown[0])),
                f"'{unknown[0]}' is not among the ports of nodes of type '{node_type.name}' in the {key} network:"
                f" {', '.join(ports)}",
                f"remove ports, or add '{unknown[0]}' to node_types.{node_type.name}.nics",
            )
            return
        if network.bond and len(stated or ports) < 2:
            yield Finding(
                _CODE,
                (*path, "bond"),
                f"a bond needs two ports, and nodes of type '{node_type.name}' have {len(ports) or 'none'}",
                f"add networks.{key}.bond.ports, or list the ports under node_types.{node_type.name}.nics",
            )
            return
        if not network.bond and not ports and not network.interface:
            yield Finding(
                _CODE,
                (*path, "configure"),
                f"the interface of nodes of type '{node_type.name}' in the {key} network has no name",
                f"add networks.{key}.interface, or list the port under node_types.{node_type.name}.nics",
            )
            return


def shared(cluster: Cluster) -> Iterator[Finding]:
    """One interface cannot be configured by two networks; a VLAN of it can."""
    for node_type in cluster.node_types:
        seen: dict[str, str] = {}
        for row in host_interfaces(cluster, node_type):
            names = dict.fromkeys((row.name, *row.ports, *filter(None, (row.bond,))), row.network)
            for name in names:
                if name in seen:
                    yield Finding(
                        _CODE,
                        ("networks", row.network, "configure"),
                        f"'{name}' of nodes of type '{node_type.name}' is already configured for the"
                        f" {seen[name]} network",
                        "add vlan, and write the interface as PARENT.ID, without a bond of its own",
                    )
                    return
            seen |= names


def fabric_ports(cluster: Cluster) -> Iterator[Finding]:
    """Ports of the fabric have addresses and an MTU of their own, which another service sets."""
    for node_type in cluster.node_types:
        fabric = {port.interface or port.device for port in node_type.fabric_ports()}
        for row in host_interfaces(cluster, node_type):
            if taken := sorted(fabric.intersection(row.defined)):
                yield Finding(
                    _CODE,
                    ("networks", row.network, "configure"),
                    f"'{taken[0]}' of nodes of type '{node_type.name}' is a port of the fabric",
                    "name another interface, or list the port with another network under nics",
                )
                return


def long_names(cluster: Cluster) -> Iterator[Finding]:
    for node_type in cluster.node_types:
        for row in host_interfaces(cluster, node_type):
            for name in row.defined:
                if len(name) > _LONGEST:
                    yield Finding(
                        _CODE,
                        ("networks", row.network, "configure"),
                        f"'{name}' has {len(name)} characters, and Linux takes {_LONGEST} for an interface",
                        "give the port a shorter name on the nodes, or name a bond",
                    )
                    return


def routes(cluster: Cluster) -> Iterator[Finding]:
    """Each leads out of the networks that the nodes are in, and never takes the place of the default route."""
    for key, network in configured(cluster).items():
        for index, text in enumerate(network.routes):
            if problem := _misleading(cluster, text, network.gateway):
                yield Finding(_CODE, ("networks", key, "routes", index), *problem)


def _misleading(cluster: Cluster, text: str, gateway: str | None) -> tuple[str, str | None] | None:
    """Message and hint."""
    route = ip_network(text)
    if route.prefixlen == 0:
        return "a default route takes the place of the management network's", "list the networks behind the gateway"
    for place in ip_networks(cluster):
        cidr = network_of(place.cidr)
        if cidr is not None and cidr.version == route.version and route.overlaps(cidr):
            return f"{text} covers addresses of the {place.key} network, which nodes reach directly", None
    router = address_of(gateway) if gateway else None
    if router is not None and router[0] != route.version:
        return f"{text} cannot be reached through {gateway}, of another IP version", None
    return None
