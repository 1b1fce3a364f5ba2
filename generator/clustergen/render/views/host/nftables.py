"""nftables: the ports of the cluster's own services, by group; all others are closed.

A group's file adds the ports of its services, so a node has those of all its groups. The ports of a file system come
from its descriptor, for its clients and its servers. Sources are the cluster's networks and not its nodes, so that a
new node changes no rule. Jobs listen on ports that nobody knows before: those of compute nodes are open to compute
nodes, and to where users of a guide log in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network, summarize_address_range
from typing import Literal, NamedTuple

from clustergen.catalogue.network import ports
from clustergen.cluster.contributions import Daemon
from clustergen.cluster.dcgm import Dcgm, runs_exporter
from clustergen.cluster.entry import Entry, Scope
from clustergen.cluster.features.ansible import Ssh
from clustergen.cluster.features.host import Chrony, Firewall
from clustergen.cluster.features.monitoring import Alertmanager, Grafana, Ipmi
from clustergen.cluster.groups import ROLES, entry_group, group_name
from clustergen.cluster.ip_networks import addresses_in, ip_networks
from clustergen.cluster.model import Cluster, NodeGroup, once_per_cluster
from clustergen.cluster.monitoring import Monitoring, NodeExporter, Prometheus
from clustergen.cluster.slurm.job_site import users_groups
from clustergen.records import record
from clustergen.render.views.fixed import Fixed

NFTABLES_UNIT = "clustergen-nftables.service"
_EPHEMERAL = "32768-60999"  # ip_local_port_range of Linux: srun listens there if it has no range of its own
_UNPRIVILEGED = "1024-65535"
_BOTH = ("tcp", "udp")


class Service(NamedTuple):
    """Ports of one service; `source` is a set of addresses, or anyone; `networks` come in addition."""

    name: str
    ports: str | int
    source: Literal["cluster", "compute", "controllers", "anyone"] = "cluster"
    protocols: tuple[str, ...] = ("tcp",)
    networks: tuple[str, ...] = ()


@record
class Source:
    """A set of addresses of one IP version."""

    name: str
    family: str  # ip or ip6
    type: str
    elements: tuple[str, ...]


@record
class Base:
    sources: tuple[Source, ...]
    ssh: int


@record
class Opening:
    """Ports of one service, by protocol and source: its family, and a set as `@cluster` or a network."""

    name: str
    protocols: tuple[str, ...]
    ports: str
    sources: tuple[tuple[str, str], ...]  # empty: anyone


@record
class Openings:
    openings: tuple[Opening, ...]


def is_enabled(cluster: Cluster) -> bool:
    return cluster.of(Firewall).closes


def base(cluster: Cluster) -> Base | None:
    return Base(_sources(cluster), cluster.of(Ssh).port) if is_enabled(cluster) else None


def unit(cluster: Cluster) -> Fixed | None:
    return Fixed() if is_enabled(cluster) else None


def openings(cluster: Cluster, group: str) -> Openings | None:
    """The file of a group."""
    if not is_enabled(cluster):
        return None
    others = (
        Service(one.name, one.port, one.source) for one in cluster.needs(Daemon) if one.group == group and one.source
    )
    services = SERVICES[group](cluster) if group in SERVICES else ()
    return _openings(cluster, [*services, *others])


def entry_openings(cluster: Cluster, entry: Entry, scope: Scope) -> dict[str, Openings] | None:
    """The file of the clients, the NFS server or the servers of an entry, by the name of their group."""
    if not is_enabled(cluster):
        return None
    services = (
        Service(row.service, row.ports, protocols=row.protocols, networks=row.networks)
        for row in entry.listening(cluster.storage)
        if row.scope == scope
    )
    made = _openings(cluster, services)
    return {entry_group(scope, entry.name): made} if made else None


def _openings(cluster: Cluster, services: Iterable[Service]) -> Openings | None:
    families = {source.name: source.family for source in _sources(cluster)}
    result = []
    for service in services:
        sources = [(families[key], f"@{key}") for key in (service.source, f"{service.source}6") if key in families]
        sources += _others(cluster, service.networks)
        if sources or service.source == "anyone":
            result.append(Opening(service.name, service.protocols, str(service.ports), tuple(sources)))
    return Openings(tuple(result)) if result else None


def _others(cluster: Cluster, networks: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Family and network of those that the sets lack."""
    elements = {element for source in _sources(cluster) for element in source.elements}
    for text in networks:
        if text not in elements:
            network = ip_network(text)
            yield "ip" if network.version == 4 else "ip6", str(network)


def _catalogued(name: str) -> Service:
    row = ports()[name]
    return Service(name, row.span, protocols=row.protocols)


def _all(cluster: Cluster) -> Iterator[Service]:
    if cluster.has(NodeExporter):
        yield Service("node exporter", cluster.of(NodeExporter).port)
    if cluster.has(Ipmi):
        yield Service("IPMI exporter", cluster.of(Ipmi).port)


def _controller(cluster: Cluster) -> Iterator[Service]:
    yield Service("slurmctld", cluster.slurm.daemons["slurmctld"].port)
    yield _srun(cluster)
    if cluster.has(Chrony):
        yield _catalogued("chrony")


def _srun(cluster: Cluster) -> Service:
    return Service("srun, salloc", cluster.slurm.srun_ports or _EPHEMERAL)


def _accounting(cluster: Cluster) -> Iterator[Service]:
    yield Service("slurmdbd", cluster.slurm.daemons["slurmdbd"].port)


def _compute(cluster: Cluster) -> Iterator[Service]:
    stated = {str(group.slurm_options["Port"]) for group in cluster.compute if "Port" in group.slurm_options}
    for number in sorted({str(cluster.slurm.daemons["slurmd"].port), *stated}):
        yield Service("slurmd", number)
    has_addresses = all(group.addresses for group in cluster.compute)
    source: Literal["cluster", "compute"] = "compute" if has_addresses else "cluster"
    yield Service("jobs: srun, MPI, NCCL and users' programs", _UNPRIVILEGED, source, _BOTH)
    if source == "compute":
        have_addresses = all(group.addresses for group in cluster.with_role("slurm-controller"))
        callers: Literal["cluster", "controllers"] = "controllers" if have_addresses else "cluster"
        yield _srun(cluster)._replace(name="slurmctld to srun of jobs", source=callers)


def _login(cluster: Cluster) -> Iterator[Service]:
    yield _srun(cluster)


def _sackd(cluster: Cluster) -> Iterator[Service]:
    yield Service("sackd", cluster.slurm.daemons["slurmd"].port)


def _monitoring(cluster: Cluster) -> Iterator[Service]:
    if cluster.has(Prometheus):
        yield Service("Prometheus", cluster.of(Prometheus).port, "anyone")
    if cluster.has(Alertmanager):
        yield Service("Alertmanager", cluster.of(Alertmanager).port, "anyone")
        if len(cluster.of(Monitoring).hosts) > 1:
            yield _catalogued("alertmanager-cluster")
    if cluster.has(Grafana):
        yield Service("Grafana", cluster.of(Grafana).port, "anyone")


def _gpu(cluster: Cluster) -> Iterator[Service]:
    if any(runs_exporter(cluster, node_type) for node_type in cluster.gpu_types):
        yield Service("dcgm-exporter", cluster.of(Dcgm).port)


SERVICES: Mapping[str, Callable[[Cluster], Iterable[Service]]] = {
    "all": _all,
    "slurm_controller": _controller,
    "slurm_accounting": _accounting,
    "slurm_compute": _compute,
    "login": _login,
    "sackd_node": _sackd,
    "monitoring": _monitoring,
    "gpu_node": _gpu,
}
"""Group → services of its nodes, but those of file systems and of features."""
GROUPS = tuple(dict.fromkeys([*SERVICES, *map(group_name, ROLES)]))


@once_per_cluster
def _sources(cluster: Cluster) -> tuple[Source, ...]:
    """Sets with elements: the cluster's networks, the controllers, and the nodes that reach the ports of jobs.

    Those are compute nodes, and with a guide the nodes where users log in: tunnels to Jupyter begin there.
    """
    networks = ip_networks(cluster)

    def addresses(groups: Iterable[NodeGroup]) -> tuple[str, ...]:
        different = {group.index: group for group in groups}.values()
        return _folded([text for group in different for net in networks for text in addresses_in(group, net)])

    elements = {
        "cluster": tuple(dict.fromkeys(network.cidr for network in networks if network.cidr)),
        "compute": addresses((*cluster.compute, *users_groups(cluster))),
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
