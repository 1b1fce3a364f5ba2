"""LNet routers: nodes with the role, with an interface in both networks, and more than one of them."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.groups import clients_of, mounts, targets_on
from clustergen.cluster.ip_networks import ip_networks, is_on, network_of
from clustergen.cluster.model import Cluster
from clustergen.cluster.roles import SERVICE
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.features.storage.lustre.lnet import lacks_address
from clustergen.features.storage.lustre.resolved import Lustre
from clustergen.features.storage.lustre.routers import ROLE, Router, routers, ways_of_router
from clustergen.hostlist import compress

_CODE = "lnet-router"


def lnet_router(cluster: Cluster) -> Iterator[Finding]:
    hosts: set[str] = set()
    for name, entry in cluster.entries(Lustre).items():
        for router in routers(cluster, entry):
            hosts.add(router.host)
            path: ManifestPath = ("storage", name, "routes", router.place[0], "gateways", router.place[1])
            if not router.group.has(ROLE):
                message = f"node '{router.host}' does not have the role {ROLE}, so it forwards nothing"
                yield Finding(_CODE, path, message, f"add {ROLE} to the roles of {router.group.folded}")
            elif router.group.type.is_resolved or router.group.type.name == SERVICE:
                yield from _networks(cluster, router, entry, path)
    yield from _idle(cluster, hosts)


def _networks(cluster: Cluster, router: Router, entry: Lustre, path: ManifestPath) -> Iterator[Finding]:
    ways = ways_of_router(cluster, router, entry)
    name = router.group.type.name
    ports = "nics of a separate node type" if name == SERVICE else f"node_types.{name}.nics"
    for net, way in ways.items():
        if not way.interfaces:
            message = f"'{router.host}' has no interface on LNet network {net}, so it is no router between"
            hint = _named_there(cluster, router, net) or f"list its ports with their networks and interfaces in {ports}"
            yield Finding(_CODE, path, f"{message} {' and '.join(ways)}", hint)
        elif lacks_address(net, way, router.group):
            message = (
                f"{way.interfaces[0]} of '{router.host}' has no IP address in the {way.key} network, so LNet cannot"
            )
            yield Finding(_CODE, path, f"{message} start on {net}", f"add addresses.{way.key} to these nodes")
    first, *others = (way.interfaces for way in ways.values())
    if first and first in others:
        message = f"'{router.host}' has {' and '.join(ways)} on one interface, {first[0]}: it leads to no other network"
        yield Finding(_CODE, path, message, f"list a port in the servers' network in {ports}, or remove the route")


def _named_there(cluster: Cluster, router: Router, net: str) -> str | None:
    """The hint for a gateway of RDMA by the name of its management address."""
    named = network_of(cluster, router.nid.rpartition("@")[0])
    if net != router.net or not net.startswith("o2ib") or named is None or named.key != "management":
        return None
    others = [each for each in ip_networks(cluster) if each.key != "management" and is_on(router.group, each)]
    other = next(iter(sorted(others, key=lambda each: each.key)), None)  # the fabric before the storage network
    return (
        f"write its name or address in the {other.name} network: {router.host}{other.suffix}@{net}" if other else None
    )


def _idle(cluster: Cluster, gateways: set[str]) -> Iterator[Finding]:
    """The role on nodes that forward nothing, or that do more: clients and servers have routes, a router has none."""
    for group in cluster.with_role(ROLE):
        path: ManifestPath = ("nodes", group.index, "roles")
        if idle := [host for host in group.hosts if host not in gateways]:
            message = f"{compress(idle)} has the role {ROLE}, but is the gateway of no route"
            hint = f"write routes: [{{net: …, gateways: [{idle[0]}@…]}}] in a lustre storage entry, or remove the role"
            yield Finding(_CODE, path, message, hint)
        used = [entry.name for entry in {**mounts(cluster, group), **targets_on(cluster, group)}.values()]
        if lustre := [name for name in used if name in cluster.entries(Lustre)]:
            message = f"{group.folded} is a router of LNet and uses '{lustre[0]}' as well"
            yield Finding(_CODE, path, message, "use other nodes as routers")


def lnet_router_single(cluster: Cluster) -> Iterator[Finding]:
    """A file system whose clients all wait when one router fails."""
    for name, entry in cluster.entries(Lustre).items():
        nodes = {router.place: router.host for router in routers(cluster, entry)}
        gateways = {
            nodes.get((index, number), nid.rpartition("@")[0])
            for index, route in enumerate(entry.routes)
            for number, nid in enumerate(route.gateways)
        }
        if len(gateways) == 1 and clients_of(cluster, name):
            yield Finding(
                "lnet-router-single",
                ("storage", name, "routes"),
                f"'{name}' is reached through one router, {gateways.pop()}: while it is down, all clients wait",
                "add a second router to gateways",
                key=True,
            )
