"""Ethernet rails that have several leaves: how these are joined, and the networks of routed ones."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, ip_network

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.facility.leaf_networks import PAIR, LeafPort, leaf_address, rail_leaves
from clustergen.hostlist import compress
from clustergen.manifest.networks import Fabric
from clustergen.rules.fabric import unused_of_fabric


def rail_spans_leaves(cluster: Cluster) -> Iterator[Finding]:
    """An Ethernet rail with addresses and several leaves needs bridges between them, or routes on its nodes."""
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type == "infiniband" or fabric.routing:
        return
    for rail, leaves in rail_leaves(cluster).items():
        if len(leaves) > 1 and any(port.address for ports in leaves.values() for port in ports):
            yield Finding(
                "rail-spans-leaves",
                ("networks", "fabric", "plan" if fabric.plan else "switches"),
                f"rail {rail} has {len(leaves)} leaves, {compress(list(leaves))}, and nothing states how nodes reach"
                " each other across them",
                "set networks.fabric.routing: bridged if the switches extend the rail's network over its leaves, or"
                " routing: /26 if each leaf is the router of a network of that size, or use larger switches",
                key=True,
            )
            return


def rail_without_addresses(cluster: Cluster) -> Iterator[Finding]:
    """Rails with networks of their own, in which nodes with ports in the fabric have no address."""
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type == "infiniband" or not fabric.rails:
        return
    groups = [g for g in cluster.groups if not g.fabric and any(port.network == "fabric" for port in g.type.ports)]
    if not groups:
        return
    hosts = [host for group in groups for host in group.hosts]
    lists = [_example(cidr, len(groups[0].hosts)) for cidr in fabric.rails]
    yield Finding(
        "rail-without-addresses",
        ("nodes", groups[0].index),
        f"{compress(hosts)} {'has' if len(hosts) == 1 else 'have'} no address in the networks of the"
        f" {len(lists)} rails, so no name, check or configuration knows their ports",
        f"add addresses: {{fabric: [{', '.join(lists)}]}}" if all(lists) else "add addresses.fabric, a list per rail",
    )


def _example(cidr: str, count: int) -> str:
    """`count` addresses of a network as a quoted list; empty where it has fewer, or is not of IPv4."""
    network = ip_network(cidr, strict=False)
    if network.version != 4 or network.num_addresses < count + 3:
        return ""
    return f'"{compress([str(network[number]) for number in range(1, count + 1)])}"'


def leaf_network(cluster: Cluster) -> Iterator[Finding]:
    """Nodes of a routed leaf have addresses in one network, which no other leaf has, and none of them is the leaf's."""
    fabric = cluster.networks.fabric
    if fabric is None or fabric.leaf_prefix is None:
        return
    owners: dict[IPv4Network, str] = {}
    for rail, leaves in rail_leaves(cluster).items():
        for leaf, ports in leaves.items():
            for port in ports:
                wrong = _wrong(port, rail, leaf, fabric.leaf_prefix, owners)
                if wrong:
                    yield Finding(
                        "leaf-network",
                        ("nodes", port.group, "addresses", "fabric"),
                        f"'{port.host}' has {port.address} on rail {rail}, {wrong}",
                        _hint(fabric.leaf_prefix, max(map(len, leaves.values()))),
                    )
                    return


def _wrong(port: LeafPort, rail: int, leaf: str, prefix: int, owners: dict[IPv4Network, str]) -> str:
    """Words for what is wrong with the address of a port; `owners`: network → the leaf, or port, that has it."""
    if port.address is None:
        return ""
    network = port.network(prefix)
    if network is None:
        return "and leaves have networks of IPv4"
    owner = owners.setdefault(network, leaf if prefix < PAIR else f"{port.host}, rail {rail}")
    if prefix == PAIR:
        return "" if owner == f"{port.host}, rail {rail}" else f"which is the leaf's address for {owner}"
    if owner != leaf:
        return f"on {leaf}, and {network} is the network of {owner}"
    if IPv4Address(port.address) == leaf_address(network, port.address):
        return f"which is the address of {leaf} in {network}"
    reserved = IPv4Address(port.address) in (network[0], network[-1])
    return f"the first or last address of {network}, which no port can have" if reserved else ""


def _hint(prefix: int, nodes: int) -> str:
    if prefix == PAIR:
        return "leave the other address of each pair to the leaf: one node has 10.1.0.1, the next 10.1.0.3"
    size = 1 << (32 - prefix)
    return (
        f"give the {nodes} nodes of a leaf addresses 1 to {size - 3} of a network of {size}, or set"
        " networks.fabric.routing: bridged"
    )


def routing_unused(_: Cluster, section: Fabric) -> Iterator[Finding]:
    if section.type == "infiniband":
        yield from unused_of_fabric(section, ("routing",), "the subnet manager routes InfiniBand")
