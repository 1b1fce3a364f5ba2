"""/etc/lnet.conf of clients, servers and routers, and settings of the kernel for LNet."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator

from clustergen.cluster.groups import mounts, targets_on
from clustergen.cluster.model import Cluster, NodeGroup, NodeType
from clustergen.features.storage.lustre.lnet import lnet_nets
from clustergen.features.storage.lustre.resolved import LnetNet, LnetRoute, Lustre
from clustergen.features.storage.lustre.routers import client_routes, router_nets, server_routes
from clustergen.records import record
from clustergen.render.effects import SYSCTL, drain, window
from clustergen.render.file import Context, File
from clustergen.render.formats import YAML

Routes = Callable[[Cluster, Lustre, Container[str]], Iterator[LnetRoute]]


@record
class LnetConf:
    """/etc/lnet.conf: what `lnetctl import` reads at boot."""

    nets: tuple[LnetNet, ...]
    routes: tuple[LnetRoute, ...] = ()
    peers: tuple[tuple[str, ...], ...] = ()  # NIDs of a server, primary NID first
    is_router: bool = False


def _entries(
    cluster: Cluster, node_type: NodeType, chosen: Callable[[Cluster, NodeGroup], Container[str]]
) -> list[Lustre]:
    """The Lustre file systems that nodes of a type mount, or serve."""
    names = [chosen(cluster, group) for group in cluster.of_type[node_type.name]]
    return [entry for name, entry in cluster.entries(Lustre).items() if any(name in each for each in names)]


def _conf(cluster: Cluster, node_type: NodeType, entries: list[Lustre], routes_of: Routes) -> LnetConf | None:
    nets = tuple(net for net in lnet_nets(cluster, node_type, entries) if net.interfaces)
    local = [net.name for net in nets]
    routes = tuple(dict.fromkeys(route for entry in entries for route in routes_of(cluster, entry, local)))
    return LnetConf(nets, routes) if nets else None


def client(cluster: Cluster, node_type: NodeType) -> LnetConf | None:
    entries = _entries(cluster, node_type, mounts)
    conf = _conf(cluster, node_type, entries, client_routes)
    peers = dict.fromkeys(tuple(peer.split(",")) for entry in entries for peer in entry.peers)
    return LnetConf(conf.nets, conf.routes, tuple(peers)) if conf else None


def server(cluster: Cluster, node_type: NodeType) -> LnetConf | None:
    return _conf(cluster, node_type, _entries(cluster, node_type, targets_on), server_routes)


def router(cluster: Cluster, node_type: NodeType) -> LnetConf | None:
    nets = tuple(net for net in router_nets(cluster, node_type) if net.interfaces)
    return LnetConf(nets, is_router=True) if nets else None


def _module(conf: Callable[[Cluster, NodeType], LnetConf | None]) -> Callable[[Cluster, NodeType], bool]:
    """Options of the kernel module lnet where there are routes."""

    def view(cluster: Cluster, node_type: NodeType) -> bool:
        lnet = conf(cluster, node_type)
        return bool(lnet and lnet.routes)

    return view


def _sysctl(conf: Callable[[Cluster, NodeType], LnetConf | None]) -> Callable[[Cluster, NodeType], Context | None]:
    """ARP settings, where an LNet network has several interfaces: each must answer for its own address alone."""

    def view(cluster: Cluster, node_type: NodeType) -> Context | None:
        lnet = conf(cluster, node_type)
        shared = (name for net in (lnet.nets if lnet else ()) if len(net.interfaces) > 1 for name in net.interfaces)
        names = tuple(dict.fromkeys(shared))
        return {"interfaces": names} if names else None

    return view


def _rows() -> Iterator[File]:
    drained, of_servers = drain("lnet.service"), window("lnet.service")
    groups = (
        ("lustre_client", client, drained),
        ("lustre_server", server, of_servers),
        ("lnet_router", router, drained),
    )
    for group, conf, restart in groups:
        for path, view, effect in (
            ("etc/lnet.conf", conf, restart),
            ("etc/modprobe.d/clustergen-lnet.conf", _module(conf), restart),
            ("etc/sysctl.d/60-clustergen-lnet.conf", _sysctl(conf), SYSCTL),
        ):
            source = f"lustre_client/{path}"
            yield File(
                f"{group}/{path}", view, effect, per="type", format=YAML if view is conf else None, source=source
            )


FILES = tuple(_rows())
