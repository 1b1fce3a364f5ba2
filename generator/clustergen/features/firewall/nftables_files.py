"""nftables: the ports of the cluster's own services, by group; all others are closed.

A group's file adds the ports of its daemons, so a node has those of all its groups. Sources are the cluster's networks
and not its nodes, so that a new node changes no rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network, summarize_address_range

from clustergen.cluster.ansible import Ssh
from clustergen.cluster.contributions import Daemon, JobPeer
from clustergen.cluster.groups import membership
from clustergen.cluster.host import Firewall
from clustergen.cluster.ip_networks import addresses_in, ip_networks
from clustergen.cluster.model import Cluster, NodeGroup, once_per_cluster
from clustergen.features.firewall.needs import UNIT
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, reload
from clustergen.render.file import Context, File


@record
class Source:
    """A set of addresses of one IP version."""

    name: str
    family: str  # ip or ip6
    type: str
    elements: tuple[str, ...]


@record
class Opening:
    """Ports of one service, by protocol and source: its family, and a set as `@cluster` or a network."""

    name: str
    protocols: tuple[str, ...]
    ports: str
    sources: tuple[tuple[str, str], ...]  # empty: anyone


def is_enabled(cluster: Cluster) -> bool:
    return cluster.of(Firewall).closes


def base(cluster: Cluster) -> Context | None:
    return {"sources": _sources(cluster), "ssh": cluster.of(Ssh).port} if is_enabled(cluster) else None


def openings(cluster: Cluster, group: str) -> dict[str, Context] | None:
    """The file of a group, by its name."""
    if not is_enabled(cluster):
        return None
    families = {source.name: source.family for source in _sources(cluster)}
    result = []
    for daemon in _listening(cluster).get(group, ()):
        sources = [(families[key], f"@{key}") for key in (daemon.source, f"{daemon.source}6") if key in families]
        sources += _others(cluster, daemon.networks)
        if sources or daemon.source == "anyone":
            result.append(Opening(daemon.name, daemon.protocols, daemon.ports or str(daemon.port), tuple(sources)))
    return {group: {"openings": tuple(result)}} if result else None


@once_per_cluster
def _listening(cluster: Cluster) -> dict[str, list[Daemon]]:
    """Daemons by the group of their nodes, but those that the firewall has no rule for."""
    by_group: dict[str, list[Daemon]] = {}
    for daemon in cluster.needs(Daemon):
        if daemon.source:
            by_group.setdefault(daemon.group, []).append(daemon)
    return by_group


def _others(cluster: Cluster, networks: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Family and network of those that the sets lack."""
    elements = {element for source in _sources(cluster) for element in source.elements}
    for text in networks:
        if text not in elements:
            network = ip_network(text)
            yield "ip" if network.version == 4 else "ip6", str(network)


@once_per_cluster
def _sources(cluster: Cluster) -> tuple[Source, ...]:
    """Sets with elements: the cluster's networks, the controllers, and the nodes that reach the ports of jobs.

    Those are compute nodes, and groups that features name.
    """
    networks = ip_networks(cluster)

    def addresses(groups: Iterable[NodeGroup]) -> tuple[str, ...]:
        different = {group.index: group for group in groups}.values()
        return _folded([text for group in different for net in networks for text in addresses_in(group, net)])

    members = membership(cluster)
    peers = (group for peer in cluster.needs(JobPeer) for group in members.get(peer.group, ()))
    elements = {
        "cluster": tuple(dict.fromkeys(network.cidr for network in networks if network.cidr)),
        "compute": addresses((*cluster.compute, *peers)),
        "controllers": addresses(cluster.with_role("slurm-controller")),
    }
    result = []
    for name, every in elements.items():
        for family, suffix, version in (("ip", "", 4), ("ip6", "6", 6)):
            if texts := tuple(text for text in every if ip_network(text, strict=False).version == version):
                result.append(Source(name + suffix, family, f"ipv{version}_addr", texts))
    return tuple(result)


def _folded(addresses: list[str]) -> tuple[str, ...]:
    """Neighbouring addresses as the networks that cover exactly them."""
    result: list[str] = []
    for kind in (IPv4Address, IPv6Address):
        numbers = sorted({int(address) for text in addresses if isinstance(address := ip_address(text), kind)})
        first = 0
        for place, number in enumerate(numbers):
            if place + 1 == len(numbers) or numbers[place + 1] != number + 1:
                covering = summarize_address_range(kind(numbers[first]), kind(number))
                result += map(str, covering)
                first = place + 1
    return tuple(result)


_DIRECTORY = "etc/clustergen-firewall"
FILES = (
    File(f"all/{_DIRECTORY}/main.nft", base, reload(UNIT)),
    File(
        f"each/{_DIRECTORY}/ports.d/{{group}}.nft",
        openings,
        reload(UNIT),
        source=f"all/{_DIRECTORY}/ports.d/ports.nft",
    ),
    File(f"all/etc/systemd/system/{UNIT}", is_enabled, DAEMON_RELOAD),
)
