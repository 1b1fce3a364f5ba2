"""The leaves of an Ethernet rail and, where these are routers, the network that each has in that of the rail."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network, ip_address

from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.facility.cabling import cables
from clustergen.records import record

PAIR = 31
"""Prefix length of a network of two addresses."""


@record
class LeafPort:
    """The port of a node on a leaf. `address`: None where it has none on that rail."""

    host: str
    group: int  # entry of the manifest's nodes
    address: str | None

    def network(self, prefix: int) -> IPv4Network | None:
        """The network of the leaf, or of the port; None without an address of IPv4."""
        if self.address is None or ip_address(self.address).version != 4:
            return None
        return IPv4Network((self.address, prefix), strict=False)


@once_per_cluster
def rail_leaves(cluster: Cluster) -> Mapping[int, Mapping[str, tuple[LeafPort, ...]]]:
    """Rail → leaf → the ports of its nodes, by the planned or listed cables of the fabric."""
    addresses = {
        host: (group.index, tuple(rail[number] for rail in group.fabric))
        for group in cluster.groups
        for number, host in enumerate(group.hosts)
    }
    leaves: dict[int, dict[str, tuple[LeafPort, ...]]] = {}
    for cable in cables(cluster):
        if cable.network == "fabric" and cable.a.device in addresses:
            group, of_rails = addresses[cable.a.device]
            rail = cable.rail or 0
            port = LeafPort(cable.a.device, group, of_rails[rail] if rail < len(of_rails) else None)
            of_rail = leaves.setdefault(rail, {})
            of_rail[cable.b.device] = (*of_rail.get(cable.b.device, ()), port)
    return dict(sorted(leaves.items()))


def leaf_address(network: IPv4Network, address: str) -> IPv4Address:
    """The leaf's address: the last of its network, or the other one of two."""
    if network.prefixlen == PAIR:
        return network[1] if IPv4Address(address) == network[0] else network[0]
    return network[-2]
