"""The fabric's network interfaces: MTU, IPoIB mode, addresses by rail, and routes that keep each rail to itself.

A node finds its own addresses by name (`node07-ib0`), so that the files are the same on all nodes of a type. ifupdown,
netplan and NetworkManager would want a file per node; their files exclude these interfaces.
"""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.fabric import rail_gateway, rail_network, rail_suffix
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.cluster.rails import addressed_rails, interface, rdma_device
from clustergen.records import record
from clustergen.render.file import Context

_FIRST_TABLE = 100


@record
class Row:
    """One port, as the scripts on the node read it: a dash stands for what is not known or not wanted."""

    rail: int
    device: str
    interface: str
    suffix: str
    network: str
    gateway: str
    table: str  # routing table of the rail
    prefix: str  # length, of the network of a leaf; empty: the rail is one network


@once_per_cluster
def is_enabled(cluster: Cluster) -> bool:
    """True if there is anything to be set: InfiniBand without IP needs nothing."""
    fabric = cluster.networks.fabric
    if fabric is None or any(group.fabric for group in cluster.groups):
        return fabric is not None
    return fabric.type == "roce" or (fabric.type == "ethernet" and fabric.mtu is not None)


def table(cluster: Cluster, node_type: NodeType) -> Context | None:
    return {"rows": rows} if (rows := tuple(_rows(cluster, node_type))) else None


def _rows(cluster: Cluster, node_type: NodeType) -> Iterator[Row]:
    """The ports of a node type, by rail."""
    fabric = cluster.networks.fabric
    if fabric is None or not is_enabled(cluster):
        return
    addressed = addressed_rails(cluster, node_type)
    for port in node_type.fabric_ports():
        if port.rail is None:
            continue
        network = rail_network(fabric, port.rail) if port.rail < addressed else None
        gateway = rail_gateway(fabric, port.rail) if network else None
        prefix = fabric.leaf_prefix if network else None
        # Where rails share a network, or have a router each, the source address decides on which rail a packet leaves.
        routed = network is not None and addressed > 1 and (gateway is not None or not fabric.rails)
        if network or fabric.type != "infiniband":
            yield Row(
                rail=port.rail,
                device=rdma_device(port, fabric) or "-",
                interface=interface(port, fabric) or "-",
                suffix=rail_suffix(fabric, port.rail),
                network=network or "-",
                gateway=gateway or "-",
                table=str(_FIRST_TABLE + port.rail) if routed else "-",
                prefix=str(prefix or ""),
            )


def script(cluster: Cluster) -> Context | None:
    """The settings that all interfaces share; empty where they are left unchanged."""
    fabric = cluster.networks.fabric
    if fabric is None or not is_enabled(cluster):
        return None
    return {"mtu": str(fabric.port_mtu or ""), "ipoib_mode": fabric.ipoib_mode if fabric.type == "infiniband" else ""}


def network_manager(cluster: Cluster, node_type: NodeType) -> Context | None:
    """NetworkManager asks DHCP on every interface that nobody told it about."""
    if node_type.os.fact("network") != "networkmanager":
        return None
    rows = _rows(cluster, node_type)
    names = tuple(row.interface for row in rows if row.interface != "-" and row.network != "-")
    return {"interfaces": names} if names else None


def networkd(cluster: Cluster, os: OperatingSystem) -> bool:
    """systemd-networkd removes routes and rules that it has not made itself."""
    several = max((len(group.fabric) for group in cluster.groups), default=0) > 1
    return several and os.fact("network") == "netplan"
