"""Addresses: well formed, in their network, each once; networks apart from each other."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import Finding, ManifestPath

IpNetwork = IPv4Network | IPv6Network


def _network(text: str | None) -> IpNetwork | None:
    try:
        return ip_network(text) if text else None
    except ValueError:
        return None


def _networks(cluster: Cluster) -> Iterator[tuple[str, ManifestPath, str]]:
    """Name, path and CIDR of each network that has one."""
    networks = cluster.manifest.networks
    for name in ("management", "bmc", "fabric", "storage"):
        network = getattr(networks, name)
        if network is not None and network.cidr:
            yield name, ("networks", name, "cidr"), network.cidr
    for rail, cidr in enumerate(networks.fabric.rails if networks.fabric else ()):
        yield f"rail {rail}", ("networks", "fabric", "rails", rail), cidr


def cidr_malformed(cluster: Cluster) -> Iterator[Finding]:
    for _, path, cidr in _networks(cluster):
        try:
            ip_network(cidr)
        except ValueError:
            try:
                wider = ip_network(cidr, strict=False)
            except ValueError:
                yield Finding("cidr-malformed", path, f"'{cidr}' is no network", "write it like 10.0.0.0/24")
            else:
                yield Finding("cidr-malformed", path, f"'{cidr}' has host bits set", f"did you mean {wider}?")


def networks_overlap(cluster: Cluster) -> Iterator[Finding]:
    known = [(name, path, network) for name, path, cidr in _networks(cluster) if (network := _network(cidr))]
    for position, (name, path, network) in enumerate(known):
        for other, _, earlier in known[:position]:
            if {name[:4], other[:4]} == {"rail", "fabr"}:
                continue  # rails are parts of the fabric's network
            if network.version == earlier.version and network.overlaps(earlier):
                yield Finding("networks-overlap", path, f"{network} ({name}) overlaps {earlier} ({other})")


def _lists(cluster: Cluster, group: NodeGroup) -> Iterator[tuple[str, ManifestPath, tuple[str, ...], str | None]]:
    """Network's name, path, addresses by host, CIDR of each address list of an entry."""
    networks = cluster.manifest.networks
    path: ManifestPath = ("nodes", group.index)
    yield "management", (*path, "address"), group.addresses, networks.management.cidr
    yield "bmc", (*path, "addresses", "bmc"), group.bmc, networks.bmc.cidr if networks.bmc else None
    yield "storage", (*path, "addresses", "storage"), group.storage, networks.storage.cidr if networks.storage else None
    fabric = networks.fabric
    several = not isinstance(cluster.manifest.nodes[group.index].addresses.fabric, str)
    for rail, addresses in enumerate(group.fabric):
        where: ManifestPath = (*path, "addresses", "fabric", rail) if several else (*path, "addresses", "fabric")
        cidr = None
        if fabric is not None:
            cidr = fabric.rails[rail] if rail < len(fabric.rails) else fabric.cidr
        yield f"rail {rail}" if several else "fabric", where, addresses, cidr


def address_checks(cluster: Cluster) -> Iterator[Finding]:
    """One pass over all addresses: form, network, reserved ones, repeats. The first of each kind per list is told."""
    owner: dict[str, str] = {}
    gateway = cluster.manifest.networks.management.gateway
    for group in cluster.groups:
        for name, path, addresses, cidr in _lists(cluster, group):
            network = _network(cidr)
            low, high = (int(network.network_address), int(network.broadcast_address)) if network else (0, 0)
            told: set[str] = set()

            def once(
                code: str, message: str, hint: str | None = None, told: set[str] = told, path: ManifestPath = path
            ) -> Iterator[Finding]:
                if code not in told:
                    told.add(code)
                    yield Finding(code, path, message, hint)

            for host, text in zip(group.hosts, addresses, strict=False):
                number = _number(text)
                if number is None:
                    yield from once("address-malformed", f"'{text}' is no IP address")
                    continue
                if network and not low <= number <= high:
                    yield from once(
                        "address-outside-network", f"{text} of {host} is not in {network}, the {name} network"
                    )
                elif network and network.prefixlen < 31 and network.version == 4 and number in (low, high):
                    yield from once(
                        "address-reserved", f"{text} of {host} is the network's own or its broadcast address"
                    )
                elif text == gateway:
                    yield from once("address-reserved", f"{text} of {host} is the gateway of the management network")
                if text in owner:
                    whose = "itself" if owner[text] == host else owner[text]
                    yield from once("address-duplicate", f"{text} of {host} belongs to {whose} already")
                owner.setdefault(text, host)


def _number(text: str) -> int | None:
    """An address as a number; the common form is read without a parser's price, since there may be 65,536 of them."""
    parts = text.split(".")
    if len(parts) == 4 and all(part.isdigit() and part.isascii() and len(part) < 4 for part in parts):
        a, b, c, d = map(int, parts)
        if max(a, b, c, d) < 256 and not any(len(part) > 1 and part[0] == "0" for part in parts):
            return a << 24 | b << 16 | c << 8 | d
    try:
        return int(ip_address(text))
    except ValueError:
        return None


def address_missing(cluster: Cluster) -> Iterator[Finding]:
    """Slurm resolves every node at start, and a name that does not resolve costs it seconds; Ansible needs them too."""
    if not cluster.manifest.host.hosts_file:
        return
    for group in cluster.groups:
        if not group.addresses and cluster.manifest.nodes[group.index].address is None:
            yield Finding(
                "address-missing",
                ("nodes", group.index),
                f"{group.folded} has no management address",
                "add address, or say host: {hosts_file: false} where DNS knows all nodes",
            )


def network_missing(cluster: Cluster) -> Iterator[Finding]:
    networks = cluster.manifest.networks
    for group in cluster.groups:
        for name, given in (("bmc", group.bmc), ("fabric", group.fabric), ("storage", group.storage)):
            if given and getattr(networks, name) is None:
                yield Finding(
                    "network-missing",
                    ("nodes", group.index, "addresses", name),
                    "addresses in a network that is not described",
                    f"add networks.{name}",
                    key=True,
                )


def rails_count(cluster: Cluster) -> Iterator[Finding]:
    for group in cluster.groups:
        ports = len(group.type.fabric_ports())
        if len(group.fabric) > 1 and len(group.fabric) > ports:
            yield Finding(
                "rail-without-port",
                ("nodes", group.index, "addresses", "fabric"),
                f"addresses for {len(group.fabric)} rails, but node type '{group.type.name}' has {ports} fabric ports",
            )


RULES = (cidr_malformed, networks_overlap, address_checks, address_missing, network_missing, rails_count)
