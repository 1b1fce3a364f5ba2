"""Input of a Warewulf server: profiles and nodes, and the program that brings them and the tree's files to it.

The program lays the tree's overlays out as Warewulf's, so that the tree holds every file once.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from clustergen.cluster.contributions import BmcAccount, BootOption
from clustergen.cluster.interfaces import type_ports
from clustergen.cluster.model import Cluster, NodeGroup, NodeType
from clustergen.features.provisioning.resolved import Provisioning
from clustergen.records import record
from clustergen.render.file import Context, File
from clustergen.render.formats import YAML
from clustergen.render.tree import Outline

_BASE = ("wwinit", "hostname", "ssh.host_keys", "ssh.authorized_keys")
_NETWORK = {"ifupdown": "ifupdown", "netplan": "netplan", "networkmanager": "NetworkManager"}


@record
class Netdev:
    """The management interface. `device`: empty where nobody knows it; `tags`: name servers and search domain."""

    device: str
    netmask: str
    prefix_length: str  # of IPv6
    gateway: str
    gateway6: str
    mtu: str
    tags: tuple[tuple[str, str], ...]


@record
class Bmcs:
    user: str
    netmask: str
    gateway: str


@record
class Profile:
    """Nodes of one type in the same groups."""

    name: str
    title: str
    image: str
    overlays: tuple[str, ...]
    kernel_options: tuple[str, ...]
    netdev: Netdev
    bmcs: Bmcs | None


@record
class Node:
    name: str
    profile: str
    mac: str
    address: str
    address6: str
    bmc: str


@record
class Nodes:
    """nodes.conf."""

    cluster: str
    site_profiles: tuple[str, ...]
    profiles: tuple[Profile, ...]
    nodes: tuple[Node, ...]


def nodes(cluster: Cluster, outline: Outline, spec: Provisioning) -> Nodes:
    with_files = {file.group for file in outline.files.values() if file.group}
    kinds: dict[tuple[str, tuple[str, ...]], NodeType] = {}
    members: list[tuple[NodeGroup, tuple[str, tuple[str, ...]]]] = []
    for group in cluster.groups:
        if group.type.name in spec.images:
            groups = tuple(name for name, entries in outline.groups.items() if group in entries and name in with_files)
            key = (group.type.name, tuple(sorted(groups)))
            kinds[key] = group.type
            members.append((group, key))
    names: dict[tuple[str, tuple[str, ...]], str] = {}
    for key, kind in kinds.items():
        number = sum(name == kind.name for name, _ in names) + 1
        names[key] = f"{cluster.name}.{kind.name}" + (f".{number}" if number > 1 else "")
    return Nodes(
        cluster.name,
        spec.profiles,
        tuple(_profile(cluster, kind, names[key], key[1]) for key, kind in kinds.items()),
        tuple(node for group, key in members for node in _nodes(group, names[key])),
    )


def _profile(cluster: Cluster, node_type: NodeType, name: str, groups: tuple[str, ...]) -> Profile:
    spec = cluster.of(Provisioning)
    network = ("systemd.netname", _NETWORK[node_type.os.fact("network")]) if _device(cluster, node_type) else ()
    of_warewulf = (*_BASE, *network) if spec.overlays is None else spec.overlays
    return Profile(
        name=name,
        title=node_type.title,
        image=spec.images[node_type.name],
        overlays=(*of_warewulf, *(f"{cluster.name}.{group}" for group in groups)),
        kernel_options=tuple(option.text for option in cluster.needs_by_type(BootOption).get(node_type.name, ())),
        netdev=_netdev(cluster, node_type),
        bmcs=_bmcs(cluster) if any(group.bmc for group in cluster.of_type[node_type.name]) else None,
    )


def _device(cluster: Cluster, node_type: NodeType) -> str:
    """The port that boots; a bond or VLAN interface is none."""
    network = cluster.networks.management
    listed = type_ports(node_type, "management")
    if listed:
        return listed[0]
    return "" if network.bond or network.vlan else network.interface or ""


def _netdev(cluster: Cluster, node_type: NodeType) -> Netdev:
    network = cluster.networks.management
    block = ip_network(network.cidr) if network.cidr else None
    is_v6 = block is not None and block.version == 6
    gateway = network.gateway or ""
    tags = [(f"DNS{number}", address) for number, address in enumerate(network.dns, 1)]
    if network.domain:
        tags.append(("DNSSEARCH", network.domain))
    return Netdev(
        device=_device(cluster, node_type),
        netmask=str(block.netmask) if block and not is_v6 else "",
        prefix_length=str(block.prefixlen) if block and is_v6 else "",
        gateway="" if ":" in gateway else gateway,
        gateway6=gateway if ":" in gateway else "",
        mtu=str(network.mtu or ""),
        tags=tuple(tags),
    )


def _bmcs(cluster: Cluster) -> Bmcs | None:
    network = cluster.networks.bmc
    if network is None:
        return None
    block = ip_network(network.cidr) if network.cidr else None
    return Bmcs(
        next((account.user for account in cluster.needs(BmcAccount)), ""),
        str(block.netmask) if block and block.version == 4 else "",
        network.gateway or "",
    )


def _nodes(group: NodeGroup, profile: str) -> Iterator[Node]:
    for index, host in enumerate(group.hosts):
        address = group.addresses[index]
        is_v6 = ":" in address
        bmc = group.bmc[index] if group.bmc else ""
        yield Node(
            name=host,
            profile=profile,
            mac=group.macs[index],
            address="" if is_v6 else address,
            address6=address if is_v6 else "",
            bmc=bmc,
        )


def program(cluster: Cluster) -> Context | None:
    return {"cluster": cluster.name} if cluster.has(Provisioning) else None


FILES = (
    File("tree/warewulf/nodes.conf", nodes, per="tree", format=YAML),
    File("tree/warewulf/install.py", program, program="provisioning/install.py"),
    File("tree/warewulf/install.json", program, values=True),
)
