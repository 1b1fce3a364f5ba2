"""Addresses: well formed, in their network, each once; MAC addresses; networks apart from each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from typing import NamedTuple

from clustergen.cluster.contributions import AddressPool, DeviceAddress
from clustergen.cluster.interfaces import NETWORKS as HOST_NETWORKS
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.diagnostics.words import counted
from clustergen.hostlist import span_of
from clustergen.hostlist.addresses import Address, address_of, is_loopback
from clustergen.manifest.nodes import Nodes
from clustergen.rules.address_space import IpNetwork, Unused, ends, host_range, is_inside, network_of


def _networks(cluster: Cluster) -> Iterator[tuple[str, ManifestPath, str]]:
    """Name, path and CIDR of each network that has one."""
    networks = cluster.networks
    for name in ("management", "bmc", "fabric", "storage"):
        network = networks.get(name)
        if network is not None and network.cidr:
            yield name, ("networks", name, "cidr"), network.cidr
    for rail, cidr in enumerate(networks.fabric.rails if networks.fabric else ()):
        yield f"rail {rail}", ("networks", "fabric", "rails", rail), cidr
    for pool in cluster.needs(AddressPool):
        yield pool.name, pool.at, pool.cidr


_FABRIC = {("networks", "fabric", "cidr"), ("networks", "fabric", "rails")}


def networks_overlap(cluster: Cluster) -> Iterator[Finding]:
    parsed = [(name, path, network) for name, path, cidr in _networks(cluster) if (network := network_of(cidr))]
    for position, (_, path, network) in enumerate(parsed):
        for other, above, earlier in parsed[:position]:
            if {path[:3], above[:3]} == _FABRIC:
                continue  # rails are parts of the fabric's network
            if network.version == earlier.version and network.overlaps(earlier):
                same = network == earlier
                smaller, larger = sorted((network, earlier), key=lambda one: one.num_addresses)
                yield Finding(
                    "networks-overlap",
                    path,
                    f"{network} is already the {other} network"
                    if same
                    else f"{network} overlaps the {other} network, {earlier}",
                    "remove this cidr if both are the same network"
                    if same
                    else f"use a network outside {larger} in place of {smaller}, or make {larger} smaller",
                )


class _List(NamedTuple):
    """One list of addresses of an entry of `nodes`."""

    network: str  # as messages name it
    path: ManifestPath
    text: str
    addresses: tuple[str, ...]  # by host
    cidr: str | None


def _lists(cluster: Cluster, section: tuple[Nodes, ...], group: NodeGroup) -> Iterator[_List]:
    networks, entry = cluster.networks, section[group.index]
    path: ManifestPath = ("nodes", group.index)
    yield _List("management", (*path, "address"), entry.address or "", group.addresses, networks.management.cidr)
    for name, text, addresses in (
        ("bmc", entry.addresses.bmc, group.bmc),
        ("storage", entry.addresses.storage, group.storage),
    ):
        network = networks.get(name)
        yield _List(name, (*path, "addresses", name), text or "", addresses, network.cidr if network else None)
    fabric, texts = networks.fabric, entry.addresses.fabric
    for rail, addresses in enumerate(group.fabric):
        where: ManifestPath = (*path, "addresses", "fabric")
        cidr = (fabric.rails[rail] if rail < len(fabric.rails) else fabric.cidr) if fabric else None
        if isinstance(texts, tuple):
            yield _List(f"rail {rail}", (*where, rail), texts[rail], addresses, cidr)
        else:
            yield _List("fabric", where, texts or "", addresses, cidr)


def address_checks(cluster: Cluster, section: tuple[Nodes, ...]) -> Iterator[Finding]:
    """One pass over all addresses: form, network, reserved ones, repeats. Reports the first of each kind per list."""
    owner: dict[Address, tuple[str, str]] = {}
    unused = Unused(lambda: _every_address(cluster, section))
    gateways = {number: name for name, _, text, _ in _gateways(cluster) if (number := address_of(text))}
    for group in cluster.groups:
        for item in _lists(cluster, section, group):
            reported: set[str] = set()
            network = network_of(item.cidr)
            version, low, high = (network.version, *ends(network)) if network else (0, 0, 0)
            for host, text in zip(group.hosts, item.addresses, strict=False):
                number = address_of(text)
                # Nearly all of them, at a tenth of the price.
                plain = number and number[0] == version and low < number[1] < high
                if number and plain and number not in gateways and number not in owner:
                    owner[number] = host, item.network
                    continue
                for code, message, hint in _against(host, text, item.network, network, gateways, owner):
                    if code not in reported:
                        reported.add(code)
                        hint = hint or unused.hint(network, len(item.addresses))
                        yield Finding(code, item.path, message, hint, at=span_of(item.text, text))
    for device in cluster.needs(DeviceAddress):
        if (number := address_of(device.address)) and (node := owner.get(number)):
            message = f"address {device.address} of '{device.device}' is already the address of {node[0]}"
            yield Finding("address-duplicate", device.at, message, "write the address of its own network card")


def _every_address(cluster: Cluster, section: tuple[Nodes, ...]) -> Iterator[str]:
    for group in cluster.groups:
        for item in _lists(cluster, section, group):
            yield from item.addresses
    yield from (text for _, _, text, _ in _gateways(cluster))


def _against(
    host: str,
    text: str,
    name: str,
    network: IpNetwork | None,
    gateways: Mapping[Address, str],
    owner: dict[Address, tuple[str, str]],
) -> Iterator[tuple[str, str, str | None]]:
    """Code, message and hint of everything that is wrong with one address. `owner` remembers whose it is."""
    number = address_of(text)
    if number is None:
        yield "address-malformed", f"'{text}' is not an IP address", _better(text)
        return
    version, value = number
    if network and not is_inside(number, network):
        yield (
            "address-outside-network",
            f"address {text} of {host} is not in the {name} network {network}",
            f"use an address from {host_range(network)}",
        )
    elif network and (what := _not_of_a_host(number, network)):
        yield "address-reserved", f"address {text} of {host} is {what}", f"use an address from {host_range(network)}"
    elif number in gateways:
        yield "address-reserved", f"address {text} of {host} is the gateway of the {gateways[number]} network", None
    elif version == 4 and (is_loopback(number) or value >> 24 == 0 or value >> 28 >= 14):
        what = "a loopback address" if is_loopback(number) else "a reserved address"
        yield "address-reserved", f"address {text} of {host} is {what}, which no other node can reach", None
    other, where = owner.get(number, ("", ""))
    if other == host and where != name:
        yield "address-duplicate", f"address {text} of {host} is already its address in the {where} network", None
    elif other and other != host:  # a host that is listed twice has a finding of its own
        yield "address-duplicate", f"address {text} of {host} is already the address of {other}", None
    owner.setdefault(number, (host, name))


def _not_of_a_host(number: Address, network: IpNetwork) -> str:
    """Name of an IPv4 address at an end of its network; empty for all others."""
    if number[0] != 4 or network.prefixlen >= 31 or number[1] not in ends(network):
        return ""
    return "the network's own address" if number[1] == ends(network)[0] else "the network's broadcast address"


def _better(text: str) -> str | None:
    parts = text.split(".")
    if len(parts) != 4 or not all(part.isdigit() for part in parts):
        return None
    if max(map(int, parts)) > 255:
        return "write four numbers from 0 to 255"
    return f"write {'.'.join(str(int(part)) for part in parts)}: some programs read a leading zero as octal"


def _gateways(cluster: Cluster) -> Iterator[tuple[str, ManifestPath, str, str | None]]:
    """Name of the network, path, address and CIDR of each router."""
    networks, fabric = cluster.networks, cluster.networks.fabric
    rails = fabric.rails if fabric else ()
    for name in ("management", "bmc", "fabric", "storage"):
        network = networks.get(name)
        if network is not None and network.gateway:
            cidr = None if name == "fabric" and rails else network.cidr  # it then serves all rails
            yield name, ("networks", name, "gateway"), network.gateway, cidr
    for rail, text in enumerate(fabric.gateways if fabric else ()):
        cidr = rails[rail] if rail < len(rails) else None
        yield f"rail {rail}", ("networks", "fabric", "gateways", rail), text, cidr


def routers_and_name_servers(cluster: Cluster) -> Iterator[Finding]:
    """A router outside its network cannot be reached, so there is no way out."""
    for name, path, text, cidr in _gateways(cluster):
        number, network = address_of(text), network_of(cidr)
        if number is None:
            yield Finding("address-malformed", path, f"'{text}' is not an IP address", _better(text))
        elif network and not is_inside(number, network):
            yield Finding(
                "address-outside-network",
                path,
                f"{text} is not in the {name} network {network}, so its nodes cannot reach this router",
                f"use an address from {host_range(network)}",
            )
        elif network and (what := _not_of_a_host(number, network)):
            message = f"the gateway {text} of the {name} network is {what}"
            yield Finding("address-reserved", path, message, f"use an address from {host_range(network)}")
    for index, text in enumerate(cluster.networks.management.dns):
        if address_of(text) is None:
            path = ("networks", "management", "dns", index)
            yield Finding("address-malformed", path, f"'{text}' is not an IP address", _better(text))


def network_missing(cluster: Cluster) -> Iterator[Finding]:
    networks = cluster.networks
    for group in cluster.groups:
        for name, address in (("bmc", group.bmc), ("fabric", group.fabric), ("storage", group.storage)):
            if address and networks.get(name) is None:
                yield Finding(
                    "network-missing",
                    ("nodes", group.index, "addresses", name),
                    f"the nodes have addresses in the {name} network, which is not defined",
                    _network_hint(name, address[0] if isinstance(address[0], str) else address[0][0]),
                    key=True,
                )


def _network_hint(name: str, address: str) -> str:
    """With the usual size of a network, which the address is in."""
    try:
        cidr = ip_network(f"{address}/{64 if ':' in address else 24}", strict=False)
    except ValueError:
        return f"add networks.{name} with its cidr"
    kind = "type: infiniband, " if name == "fabric" else ""
    return f"add to networks: {name}: {{{kind}cidr: {cidr}}}"


def rail_without_port(cluster: Cluster) -> Iterator[Finding]:
    for group in cluster.groups:
        ports = len(group.type.fabric_ports())
        if group.type.is_resolved and len(group.fabric) > max(1, ports):
            have = "1 port" if ports == 1 else f"{ports or 'no'} ports"
            yield Finding(
                "rail-without-port",
                ("nodes", group.index, "addresses", "fabric", max(1, ports)),
                f"addresses for {len(group.fabric)} rails, but node type '{group.type.name}' has {have} in the fabric",
                f"list its ports under node_types.{group.type.name}.nics",
            )


# What the node's own network configuration decides: no file of the tree has it.
_UNUSED = {
    "management": ("mtu", "vlan", "bond", "routes"),
    "bmc": ("mtu", "interface"),
    "storage": ("mtu", "vlan", "bond", "routes"),
    "fabric": ("vlan",),
}


def _configure(name: str) -> str:
    return f"set networks.{name}.configure: true, or " if name in HOST_NETWORKS else ""


def network_value_unused(cluster: Cluster) -> Iterator[Finding]:
    """Values of a network that configure nothing: a user that sets an MTU expects interfaces to have it."""
    for name, keys in _UNUSED.items():
        network = cluster.networks.get(name)
        for key in keys:
            if network is not None and getattr(network, key) and not getattr(network, "configure", False):
                yield Finding(
                    "network-value-unused",
                    ("networks", name, key),
                    f"{key} of the {name} network has no effect: clustergen does not configure these interfaces",
                    f"{_configure(name)}remove {key} and set it in the nodes' own network configuration",
                )


def macs(cluster: Cluster, section: tuple[Nodes, ...]) -> Iterator[Finding]:
    """MAC addresses: as many as names, and each once in the cluster."""
    owner: dict[str, str] = {}
    for group in cluster.groups:
        listed = section[group.index].macs
        path: ManifestPath = ("nodes", group.index, "macs")
        if listed and len(listed) != len(group.hosts):
            numbers = f"{counted(len(listed), 'MAC address')} for {counted(len(group.hosts), 'node')}"
            yield Finding("mac-count", path, numbers, "list one per name, in the same order")
        for index, (host, mac) in enumerate(zip(group.hosts, group.macs, strict=False)):
            if (other := owner.setdefault(mac, host)) != host:
                yield Finding("mac-duplicate", (*path, index), f"{mac} of '{host}' is already that of '{other}'")
