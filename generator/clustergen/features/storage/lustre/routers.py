"""LNet routers that are nodes of the cluster, and the routes through them."""

from __future__ import annotations

from collections.abc import Container, Iterator

from clustergen.cluster.ip_networks import addresses_in, node_of
from clustergen.cluster.model import Cluster, NodeGroup, NodeType
from clustergen.features.storage.lustre.lnet import Way, canonical, nids_of, server_nids, way_to
from clustergen.features.storage.lustre.resolved import LnetNet, LnetRoute, Lustre
from clustergen.records import record, replace

ROLE = "lnet-router"


@record
class Router:
    """A node that is a gateway of a route: between `net`, where it has this NID, and the route's network."""

    group: NodeGroup
    position: int  # of the host in its entry of the manifest
    net: str
    nid: str
    route: LnetRoute
    place: tuple[int, int]  # of the route in the entry, and of the gateway in it

    @property
    def host(self) -> str:
        return self.group.hosts[self.position]


def routers(cluster: Cluster, entry: Lustre) -> Iterator[Router]:
    for index, route in enumerate(entry.routes):
        for number, nid in enumerate(route.gateways):
            host, _, net = nid.rpartition("@")
            if node := node_of(cluster, host):
                group, position, network = node
                addresses = addresses_in(group, network)
                nid = f"{addresses[position]}@{net}" if addresses else nid
                yield Router(
                    group=group, position=position, net=canonical(net), nid=nid, route=route, place=(index, number)
                )


def ways_of_router(cluster: Cluster, router: Router, entry: Lustre) -> dict[str, Way]:
    """Of its two networks, the clients' first."""
    far = canonical(router.route.net)
    return {
        router.net: way_to(cluster, router.group.type, [(router.nid.rpartition("@")[0], router.net)], router.net),
        far: way_to(cluster, router.group.type, server_nids(entry), far),
    }


def router_nets(cluster: Cluster, node_type: NodeType) -> tuple[LnetNet, ...]:
    """The LNet networks of routers of a type."""
    nets: dict[str, tuple[str, ...]] = {}
    for entry in cluster.entries(Lustre).values():
        for router in routers(cluster, entry):
            if router.group.type.name == node_type.name:
                for net, way in ways_of_router(cluster, router, entry).items():
                    nets[net] = tuple(dict.fromkeys((*nets.get(net, ()), *way.interfaces)))
    return tuple(LnetNet(net, interfaces) for net, interfaces in nets.items())


def client_routes(cluster: Cluster, entry: Lustre, local: Container[str]) -> Iterator[LnetRoute]:
    """Routes for nodes in these networks. LNet refuses one to a network of the node, or by one that it is not in."""
    nodes = {router.place: router.nid for router in routers(cluster, entry)}
    for index, route in enumerate(entry.routes):
        gateways = {
            nodes.get((index, number), nid): (index, number) in nodes
            for number, nid in enumerate(route.gateways)
            if canonical(nid.rpartition("@")[2]) in local
        }
        if gateways and canonical(route.net) not in local:
            # Without the number of hops LNet uses a router that has lost its other network.
            hop = route.hop or (1 if all(gateways.values()) else None)
            yield replace(route, gateways=tuple(gateways), hop=hop)


def server_routes(cluster: Cluster, entry: Lustre, local: Container[str]) -> Iterator[LnetRoute]:
    """The way back, of servers in these networks."""
    gateways: dict[tuple[str, int], list[str]] = {}
    for router in routers(cluster, entry):
        far = canonical(router.route.net)
        if far in local and router.net not in local:
            nids = [nid for nid in nids_of(cluster, router.host, entry).split(",") if nid.endswith(f"@{far}")]
            gateways.setdefault((router.net, router.place[0]), []).extend(nids[:1])
    for (net, index), nids in gateways.items():
        route = entry.routes[index]
        yield replace(route, net=net, gateways=tuple(nids), hop=route.hop or 1)
