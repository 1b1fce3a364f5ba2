"""Networks by traffic class, and the switches of the fabric."""

import contextlib
from collections.abc import Mapping
from ipaddress import ip_network
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from clustergen.hostlist import count
from clustergen.manifest.base import (
    NOT_EMPTY,
    Address,
    Cidr,
    Device,
    Domain,
    HostList,
    ModelName,
    PlaceName,
    Rate,
    Section,
    field,
    text,
)
from clustergen.manifest.composition import Place, composed

Mtu = Annotated[int, Field(ge=576, le=65520)]
RailRange = Annotated[
    str,
    text(r"^([0-9]|[1-5][0-9]|6[0-3])-([0-9]|[1-5][0-9]|6[0-3])$", "write a rail from 0 to 63, or a range: 0-7"),
]
"""Rails of several switches, a name of the list each: `0-7`."""


Routing = Annotated[
    str,
    text(
        r"^(bridged|/(1[6-9]|2[0-9]|30|31))$",
        "write bridged, or the prefix length of the network of one leaf, from /16 to /31: /26",
    ),
]


class FabricPlan(Section):
    """A fat tree to be planned: switches, ports and cables follow from the nodes' ports."""

    leaf: ModelName = field(
        ..., "Model of the leaf switches, in the catalogue or under catalogue.switches.", sample="QM9700"
    )
    spine: ModelName | None = field(None, "Model of the spine switches; default: that of the leaves.")
    core: ModelName | None = field(None, "Model of the core switches of a third tier; default: that of the spines.")
    oversubscription: Annotated[float, Field(ge=1, le=16)] = field(
        1, "Bandwidth of a leaf's node ports to that of its uplinks: 1 is non-blocking, 3 is 3:1."
    )
    unit: Annotated[int, Field(ge=1, le=1024)] | None = field(
        None,
        "Nodes of a scalable unit, which has one leaf per rail; default: as many as a leaf has ports for, and"
        " rails share leaves while one unit has all nodes.",
    )
    capacity: Annotated[int, Field(ge=1, le=65536)] | None = field(
        None,
        "Nodes that uplinks, spines, cores and racks are planned for, so that no cable moves until the cluster has that"
        " many; default: the present nodes.",
    )
    leaves: Annotated[int, Field(ge=1, le=64)] | None = field(
        None,
        "Least number of leaves that the ports of a node are spread over, for redundancy; default: 1 in the fabric,"
        " 2 with `spines`, where rails share leaves if that saves switches; in other networks one for each port.",
    )
    planes: Annotated[int, Field(ge=1, le=8)] = field(
        1,
        "Planes of an Ethernet network, each with leaves and spines of its own: the ports of a node alternate between"
        " them, as the two ports of 400 Gb/s of a ConnectX-8.",
    )
    spines: Annotated[int, Field(ge=1, le=512)] | None = field(
        None, "Least number of spines, for redundancy; of each group of spines with three tiers."
    )
    ports: Annotated[int, Field(ge=1, le=64)] | None = field(
        None, "Ports of a node to connect, the first ones; default: all that it has in this network."
    )
    reserved: Annotated[int, Field(ge=0, le=64)] = field(
        0, "Node ports to leave free on each leaf of the first unit, for UFM or gateways."
    )
    reserved_for: HostList | None = field(
        None,
        "Devices on the reserved ports that are not nodes, by the host name that their adapters show, as ufm[1-2];"
        " clustergen fabric check expects them there. Reserves one port if reserved is 0.",
    )
    nodes: HostList | None = field(None, "Nodes to connect, in this order; default: all with a port in this network.")
    racks: HostList | None = field(
        None, "Racks for the switches, spread evenly: cores and spines first, then the leaves of each unit."
    )

    @property
    def reserved_ports(self) -> int:
        """Node ports that stay free on each leaf of the first unit."""
        return self.reserved or int(self.reserved_for is not None)


_MASKS = ("netmask", "mask", "subnet_mask", "prefix", "prefixlen", "prefix_length")
_ADDRESSES = ("network", "net", "address", "ip", "range")


def _network_hint(key: str, values: Mapping[str, Any]) -> str | None:
    """An address and a netmask, which are one key."""
    addresses = [str(values[name]) for name in ("cidr", *_ADDRESSES) if name in values]
    masks = [str(values[name]) for name in _MASKS if name in values]
    if key not in (*_MASKS, *_ADDRESSES) or not addresses or not (masks or "/" in addresses[0]):
        return None
    address, _, length = addresses[0].partition("/")
    with contextlib.suppress(ValueError):
        network = ip_network(f"{address}/{masks[0] if masks else length}", strict=False)
        return "remove it: cidr has the prefix length" if addresses[0] == str(network) else f"write cidr: {network}"
    return None


class Network(Section):
    """An Ethernet network."""

    MEANT_BY_SCALAR: ClassVar = "cidr"
    KEY_HINT: ClassVar = _network_hint

    cidr: Cidr | None = field(
        None, "Addresses of this network, as 10.0.0.0/24. Required if nodes have addresses in it."
    )
    domain: Domain | None = field(None, "DNS domain of names in this network.")
    gateway: Address | None = field(
        None, "Router, for checks; on the storage network it allows clients without an address there."
    )
    interface: Device | None = field(None, "Name of the nodes' interface in this network; a node type can override it.")
    mtu: Mtu | None = field(None, "MTU in bytes; set on nodes if `configure` is true, else for the tree's README only.")
    rate: Rate | None = field(None, "Speed of a port: a name (HDR, NDR …) or a bit rate (100Gb/s).")
    vlan: Annotated[int, Field(ge=1, le=4094)] | None = field(
        None, "802.1Q VLAN id; set on nodes if `configure` is true, else for the tree's README only."
    )
    plan: Annotated[FabricPlan | None, NOT_EMPTY] = field(None, "Plan of the switches and cables of this network.")


class Bond(Section):
    """Several ports of a node as one interface, which has the name `interface` of its network."""

    ports: Annotated[tuple[Device, ...], Field(max_length=8)] = field(
        (), "Interfaces of the ports; default: those of the node type's nics in this network."
    )
    mode: Literal["802.3ad", "active-backup"] = field(
        "802.3ad", "802.3ad: LACP, which the switch must support; active-backup: one port at a time, on any switch."
    )


class HostNetwork(Network):
    """A network whose interfaces on the nodes clustergen can configure."""

    configure: bool = field(
        False,
        "Configure the nodes' interface: address, MTU, VLAN, bond, routes and name servers, in the files of the"
        " operating system. The playbook clustergen.cluster.network activates them.",
    )
    bond: Annotated[Bond | None, NOT_EMPTY] = field(None, "Bond of several ports, with configure.")
    routes: tuple[Cidr, ...] = field((), "Networks that nodes reach through this network's gateway, with configure.")


class Management(HostNetwork):
    """The network that ssh, Slurm and monitoring use."""

    gateway: Address | None = field(None, "Router; the nodes' default route if `configure` is true.")
    dns: tuple[Address, ...] = field((), "Name servers; set on nodes if `configure` is true, else for checks.")
    ntp: tuple[Domain, ...] = field((), "External time servers; without any, the controller is the time source.")


class Bmc(Network):
    """The out-of-band network of the baseboard management controllers."""

    protocol: Literal["ipmi", "redfish"] = field("redfish", "Protocol of the BMCs.")
    gateway: Address | None = field(None, "Router of the BMCs; the playbook clustergen.cluster.bmc sets it.")
    vlan: Annotated[int, Field(ge=1, le=4094)] | None = field(
        None, "802.1Q VLAN id with which BMCs tag their packets; the playbook clustergen.cluster.bmc sets it."
    )


class Uplink(Section):
    """A cable bundle of a leaf."""

    to: HostList = field(
        ..., "The upper switch, or a host list for the same bundle to several.", sample='"spine[01-02]"'
    )
    links: Annotated[int, Field(ge=1, le=512)] = field(1, "Cables in the bundle.")


class Switch(Section):
    """One switch, or several identical ones as a host list."""

    name: HostList = field(..., "Name, or a host list for identical switches: spine[01-02].", sample="leaf01")
    model: ModelName | None = field(None, "Model in the catalogue, as qm8700 or sn5600; defines ports and rate.")
    nodes: HostList | None = field(None, "Nodes connected to this leaf switch.")
    rail: Annotated[int, Field(ge=0, le=63)] | RailRange | None = field(
        None,
        "Rail of this leaf, or a range with a rail for each of the names, in their order: 0-7. Slurm treats leaves of"
        " one pod with different rails as one leaf.",
    )
    uplinks: tuple[Uplink, ...] = field((), "Upper switches, with the number of cables to each.")
    rack: PlaceName | None = field(None, "Rack of the switch.")

    @property
    def rails(self) -> tuple[int | None, ...]:
        """The rail of each name, in the order of the names; as many as the range has, which may differ."""
        if not isinstance(self.rail, str):
            return (self.rail,) * count(self.name)
        first, last = map(int, self.rail.split("-"))
        return tuple(range(first, last + 1))


@composed("networks.fabric")
class Fabric(Network):
    """The network between GPUs."""

    MEANT_BY_SCALAR: ClassVar = ""
    type: Literal["infiniband", "roce", "ethernet"] = field(..., "Fabric type; ethernet means TCP only.")
    layout: Literal["single", "fat-tree", "rail"] | None = field(
        None, "Fabric topology; default: rail if a switch sets rail, fat-tree with uplinks, otherwise single."
    )
    rails: tuple[Cidr, ...] = field((), "Networks of the rails, if each rail has its own.")
    gateway: Address | None = field(None, "Router of all rails, if they are routed.")
    mtu: Mtu | None = field(
        None, "MTU in bytes of the fabric's ports; default 9000 on RoCE, 65520 in IPoIB connected mode."
    )
    gateways: tuple[Address, ...] = field((), "Router of each rail's network, if the rails are routed.")
    routing: Routing | None = field(
        None,
        "How nodes of an Ethernet rail reach those on its other leaves. bridged: the switches extend the rail's network"
        " over all of its leaves, by EVPN-VXLAN or a VLAN. A prefix length, as /26: each leaf has a network of that"
        " size in that of the rail, is the router with its last address, and announces it to the others; /31: each port"
        " has one, whose other address is the leaf's.",
    )
    interfaces: tuple[Device, ...] = field((), "Interface names by rail, if they differ from the catalogue's.")
    sharp: Place
    service_level: Annotated[int, Field(ge=0, le=15)] | None = field(None, "InfiniBand SL of NCCL traffic.")
    roce: Place
    subnet_manager: Place
    ipoib_mode: Literal["datagram", "connected"] = field("datagram", "IPoIB mode of the fabric's IP interfaces.")
    opensm_options: Place
    switches: tuple[Switch, ...] = field((), "Switches, for Slurm's topology and the port check.")

    @property
    def has_separate_rails(self) -> bool:
        """True if no packet goes from one rail to another: RoCE or TCP in a network per rail, without routers.

        InfiniBand joins all ports of its switches, whatever the IP networks.
        """
        return self.type != "infiniband" and len(self.rails) > 1 and not (self.gateway or self.gateways)


class Networks(Section):
    """Networks by traffic class, so that a burst in one does not affect the others."""

    management: Management = field(..., "ssh, Slurm, monitoring.")
    bmc: Annotated[Bmc | None, NOT_EMPTY] = field(None, "Out-of-band management.")
    fabric: Annotated[Fabric | None, NOT_EMPTY] = field(None, "Network between GPUs.")
    storage: Annotated[HostNetwork | None, NOT_EMPTY] = field(
        None, "Network of the storage servers, for names, addresses, checks and, with configure, the nodes' interface."
    )
