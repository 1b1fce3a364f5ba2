"""Files of the fabric on the hosts: modules of RDMA, device names that stay what the manifest calls them, and the
network interfaces: MTU, IPoIB mode, addresses by rail, and routes that keep each rail to itself.

A node finds its own addresses by name (`node07-ib0`), so that the files are the same on all nodes of a type. ifupdown,
netplan and NetworkManager would want a file per node; their files exclude these interfaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.fabric import rail_gateway, rail_network, rail_suffix
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.cluster.rails import addressed_rails, interface, rdma_device
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, REBOOT, reload, run
from clustergen.render.file import Context, File, sbin

_MODES = {
    "NAME_KERNEL": re.compile(r"(mlx[45]|irdma|bnxt_re|hns|qedr)_?[0-9]+"),
    "NAME_FALLBACK": re.compile(r"(ib|roce|iw)(P[0-9]+)?p[0-9]+s[0-9]+(f[0-9]+)?"),
}
"""Setting of rdma_rename → the names that follow from it: by order of detection, or by PCI address."""


@record
class Module:
    name: str
    why: str


@record
class Naming:
    mode: str
    by_address: bool
    device: str  # one of the names that result


def modules(cluster: Cluster) -> Context | None:
    """None for a fabric that speaks TCP only."""
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type == "ethernet":
        return None
    names = [
        Module("ib_uverbs", "RDMA for programs: NCCL, UCX, perftest"),
        Module("rdma_ucm", "connections by address: storage, perftest -R"),
    ]
    if fabric.type == "infiniband":
        names.append(Module("ib_umad", "management packets: ibstat, perfquery, opensm"))
        if any(group.fabric for group in cluster.groups):
            names.append(Module("ib_ipoib", "IP over InfiniBand"))
    return {"modules": tuple(names)}


def names(cluster: Cluster, node_type: NodeType) -> Naming | None:
    """The rule that gives devices the names of the manifest: rdma-core and MLNX_OFED have different ones."""
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type == "ethernet":
        return None
    devices = [name for port in node_type.fabric_ports() if (name := rdma_device(port, fabric))]
    modes = [mode for mode, form in _MODES.items() if devices and all(map(form.fullmatch, devices))]
    return Naming(modes[0], modes[0] != "NAME_KERNEL", devices[0]) if modes else None


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
    """NetworkManager asks DHCP on every interface for which it has no file."""
    if node_type.os.fact("network") != "networkmanager":
        return None
    rows = _rows(cluster, node_type)
    names = tuple(row.interface for row in rows if row.interface != "-" and row.network != "-")
    return {"interfaces": names} if names else None


def networkd(cluster: Cluster, os: OperatingSystem) -> bool:
    """systemd-networkd removes routes and rules that it has not made itself."""
    several = max((len(group.fabric) for group in cluster.groups), default=0) > 1
    return several and os.fact("network") == "netplan"


_INTERFACES = run("clustergen-fabric-interfaces.service")
_UNITS = "fabric_node/etc/systemd/system"


FILES: tuple[File, ...] = (
    File("fabric_node/etc/modules-load.d/clustergen-rdma.conf", modules, run("systemd-modules-load.service")),
    File("fabric_node/etc/udev/rules.d/60-rdma-persistent-naming.rules", names, REBOOT, per="type"),
    File("fabric_node/etc/clustergen/fabric-interfaces", table, _INTERFACES, per="type"),
    File("fabric_node/etc/clustergen/fabric-interfaces.sh", script, _INTERFACES, values=True),
    File("fabric_node/usr/local/lib/clustergen/fabric.sh", script, _INTERFACES, program="fabric/fabric.sh"),
    sbin("fabric_node", "fabric/clustergen-fabric-interfaces.sh", script, _INTERFACES),
    File(f"{_UNITS}/clustergen-fabric-interfaces.service", script, DAEMON_RELOAD),
    File(
        "fabric_node/etc/NetworkManager/conf.d/50-clustergen-fabric.conf",
        network_manager,
        reload("NetworkManager.service"),
        per="type",
    ),
    File("fabric_node/etc/systemd/networkd.conf.d/50-clustergen.conf", networkd, per="os"),
)
