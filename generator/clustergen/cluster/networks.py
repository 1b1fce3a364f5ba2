"""The networks of the cluster, by traffic class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from clustergen.cluster.annotations import INTERNAL, Hosts
from clustergen.cluster.catalogue_view import gbit
from clustergen.hostlist import expand
from clustergen.manifest.model import Manifest
from clustergen.manifest.networks import Fabric as FabricSection
from clustergen.manifest.networks import FabricPlan
from clustergen.manifest.networks import HostNetwork as HostSection
from clustergen.manifest.networks import Network as Section
from clustergen.records import copied, record

if TYPE_CHECKING:
    from clustergen.cluster.model import Cluster

NETWORKS = ("fabric", "storage", "management", "bmc")
"""Keys of `networks` in the order in which cables and switches are counted."""
_ROCE_MTU = 9000
_CONNECTED_MTU = 65520
_ECN_CAPABLE = 2


@record
class Plan:
    """A fat tree whose switches are planned."""

    SECTIONS = ("FabricPlan",)
    leaf: str  # model
    spine: str | None  # None: as the leaves
    core: str | None  # None: as the spines
    oversubscription: float  # bandwidth of a leaf's node ports to that of its uplinks
    unit: int | None  # nodes; None: as many as a leaf has ports for
    capacity: int | None  # nodes that it is planned for; None: the present ones
    leaves: int | None  # for the ports of a node, at least; None: 1 in the fabric, 2 with spines, else one a port
    planes: int  # with switches of their own, between which the ports of a node alternate
    spines: int | None  # at least
    ports: int | None  # of a node; None: all
    reserved_ports: int  # node ports that stay free on each leaf of the first unit
    reserved_for: Hosts  # devices on these ports that are not nodes
    nodes: Hosts  # to connect, in this order; none: all
    racks: Hosts  # for the switches


@record
class Network:
    """A network."""

    type: Literal["infiniband", "roce", "ethernet"]  # that of its planned switches, unless the manifest states it
    cidr: str | None
    domain: str | None  # of host names; None: none
    gateway: str | None
    interface: str | None  # None: of the port
    mtu: int | None  # bytes; None: the system's own
    vlan: int | None  # None: untagged
    rate: Annotated[str | None, INTERNAL]  # of a port, as stated: NDR or 400Gb/s
    rate_gbit: int | None  # of a port; None: the port's own
    plan: Plan | None  # None: no switches are planned


@record
class Bond:
    """Several ports as one interface; without `ports`, those of the node type."""

    ports: tuple[str, ...]
    mode: str  # of Linux, as 802.3ad


@record
class HostNetwork(Network):
    """A network whose interfaces on the nodes are configured if `configure` is true."""

    configure: bool  # clustergen renders the configuration of the interfaces
    bond: Bond | None  # None: one port
    routes: tuple[str, ...]  # networks that nodes reach through the gateway


@record
class ManagementNetwork(HostNetwork):
    """The network that ssh, Slurm and monitoring use."""

    SECTIONS = ("Management",)
    dns: tuple[str, ...]
    ntp: tuple[str, ...]


@record
class StorageNetwork(HostNetwork):
    """The network of the storage servers."""


@record
class BmcNetwork(Network):
    """The network of the management controllers."""

    SECTIONS = ("Bmc",)
    protocol: Literal["ipmi", "redfish"]


@record
class Roce:
    """Lossless Ethernet on the hosts. Absent: the fabric is not RoCE."""

    dscp: int  # of RDMA traffic
    priority: int  # of RDMA traffic
    cnp_dscp: int  # of congestion notifications
    cnp_priority: int
    pfc: bool
    ecn: bool
    trust: Literal["dscp", "pcp"]  # what a switch sorts packets by

    @property
    def traffic_class(self) -> int:
        """The byte that RDMA packets carry: DSCP in the upper six bits, and below it that they may be ECN-marked."""
        return self.dscp << 2 | (_ECN_CAPABLE if self.ecn else 0)


@record
class SubnetManager:
    """The subnet manager. Absent: the fabric is not InfiniBand."""

    where: Literal["switch", "node", "ufm"]  # on a managed switch, on nodes, or on a UFM appliance
    pkey: str | None  # of the partition of jobs; None: the default


@record
class Fabric(Network):
    """The network between GPUs."""

    layout: Literal["single", "fat-tree", "rail"]
    port_mtu: int | None  # bytes; None: the driver's own
    rails: tuple[str, ...]  # networks of the rails, where each has its own
    gateways: tuple[str, ...]  # by rail
    has_separate_rails: bool  # no packet goes from one rail to another
    routing: str | None  # between leaves of a rail: bridged, or the prefix length of a leaf's network
    service_level: int | None  # of NCCL's traffic; None: the default
    ipoib_mode: Literal["datagram", "connected"]

    @property
    def leaf_prefix(self) -> int | None:
        """Prefix length of the network of a leaf, which is the router in it; null: a rail is one network."""
        return int(self.routing[1:]) if self.routing and self.routing[0] == "/" and self.type != "infiniband" else None


@record
class Networks:
    """The networks of a cluster; None where it does not have one."""

    _cluster: Cluster

    @property
    def management(self) -> ManagementNetwork:
        return self._cluster.of(ManagementNetwork)

    @property
    def bmc(self) -> BmcNetwork | None:
        return self._cluster.get(BmcNetwork)

    @property
    def fabric(self) -> Fabric | None:
        return self._cluster.get(Fabric)

    @property
    def has_rdma_fabric(self) -> bool:
        return self.fabric is not None and self.fabric.type != "ethernet"

    @property
    def storage(self) -> StorageNetwork | None:
        return self._cluster.get(StorageNetwork)

    def get(self, name: str) -> Network | None:
        """The network of that name, which is its key in the manifest."""
        network: Network | None = getattr(self, name)
        return network

    def __getitem__(self, name: str) -> Network:
        network = self.get(name)
        if network is None:
            raise LookupError(f"the cluster has no {name} network")
        return network


def resolve_management(manifest: Manifest, cluster: Cluster) -> ManagementNetwork:
    section = manifest.networks.management
    return copied(ManagementNetwork, section, **_host(section, cluster))


def resolve_bmc(manifest: Manifest, cluster: Cluster) -> BmcNetwork | None:
    section = manifest.networks.bmc
    return copied(BmcNetwork, section, **_common(section, cluster)) if section else None


def resolve_storage(manifest: Manifest, cluster: Cluster) -> StorageNetwork | None:
    section = manifest.networks.storage
    return copied(StorageNetwork, section, **_host(section, cluster)) if section else None


def resolve_fabric(manifest: Manifest, cluster: Cluster) -> Fabric | None:
    section = manifest.networks.fabric
    if section is None:
        return None
    layout = section.layout or (
        "rail"
        if any(switch.rails for switch in cluster.switches)
        else "fat-tree"
        if any(switch.uplinks for switch in cluster.switches)
        else "single"
    )
    return copied(
        Fabric,
        section,
        **{**_common(section, cluster), "type": section.type},
        layout=layout,
        port_mtu=_port_mtu(section),
    )


def _common(section: Section, cluster: Cluster) -> dict[str, Any]:
    """Fields of every network that are not the manifest's."""
    leaf = cluster.catalogue.switch(section.plan.leaf) if section.plan else None
    return {
        "type": leaf.fabric if leaf else "ethernet",
        "rate_gbit": gbit(section.rate) if section.rate else None,
        "plan": _plan(section.plan) if section.plan else None,
    }


def _plan(section: FabricPlan) -> Plan:
    lists = {key: getattr(section, key) for key in ("reserved_for", "nodes", "racks")}
    return copied(Plan, section, **{key: tuple(expand(text)) if text else () for key, text in lists.items()})


def _host(section: HostSection, cluster: Cluster) -> dict[str, Any]:
    return {**_common(section, cluster), "bond": copied(Bond, section.bond) if section.bond else None}


def _port_mtu(section: FabricSection) -> int | None:
    """1500 and what the IPoIB broadcast group allows are the driver's own."""
    if section.mtu is not None:
        return section.mtu
    if section.type == "infiniband":
        return _CONNECTED_MTU if section.ipoib_mode == "connected" else None
    return _ROCE_MTU if section.type == "roce" else None
