"""nftables: the ports of the cluster's own services, by group; all others are closed.

A group's file adds the ports of its services, so a node has those of all its groups. Sources are the cluster's networks
and not its nodes, so that a new node changes no rule. Jobs listen on ports that nobody knows before: those of compute
nodes are open to compute nodes, and to where users of a guide log in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network, summarize_address_range
from typing import Literal, NamedTuple

from clustergen.catalogue.network import ports
from clustergen.cluster.ip_networks import addresses_in, ip_networks
from clustergen.cluster.job_site import users_groups
from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.records import record
from clustergen.render.views.dcgm import exported
from clustergen.render.views.fixed import Fixed
from clustergen.render.views.scrape import monitored
from clustergen.render.views.slurm.daemons import port as slurm_port

NFTABLES_UNIT = "clustergen-nftables.service"
_EPHEMERAL = "32768-60999"  # ip_local_port_range of Linux: srun listens there if it has no range of its own
_UNPRIVILEGED = "1024-65535"
_BOTH = ("tcp", "udp")


class Service(NamedTuple):
    """Ports of one service; `source` is a set of addresses, or anyone."""

    name: str
    ports: str | int
    source: Literal["cluster", "compute", "anyone"] = "cluster"
    protocols: tuple[str, ...] = ("tcp",)


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
    """Ports of one service, by protocol and by family and set of sources."""

    name: str
    protocols: tuple[str, ...]
    ports: str
    sources: tuple[tuple[str, str], ...]  # empty: anyone


@record
class Openings:
    openings: tuple[Opening, ...]


def is_enabled(cluster: Cluster) -> bool:
    return cluster.manifest.host.firewall == "nftables"


def base(cluster: Cluster) -> Base | None:
    return Base(_sources(cluster), cluster.manifest.ansible.port) if is_enabled(cluster) else None


def unit(cluster: Cluster) -> Fixed | None:
    return Fixed() if is_enabled(cluster) else None


def openings(cluster: Cluster, group: str) -> Openings | None:
    """The file of a group."""
    if not is_enabled(cluster):
        return None
    sources = {source.name: source.family for source in _sources(cluster)}
    result = []
    for service in SERVICES[group](cluster):
        sets = tuple((sources[key], key) for key in (service.source, f"{service.source}6") if key in sources)
        if sets or service.source == "anyone":
            result.append(Opening(service.name, service.protocols, str(service.ports), sets))
    return Openings(tuple(result)) if result else None


def _catalogued(name: str) -> Service:
    row = ports()[name]
    return Service(name, row.port, protocols=row.protocols)


def _all(cluster: Cluster) -> Iterator[Service]:
    exporter = cluster.manifest.monitoring.node_exporter
    if monitored(cluster) and exporter.enabled:
        yield Service("node exporter", exporter.port)
    if (ipmi := cluster.manifest.monitoring.ipmi) and monitored(cluster):
        yield Service("IPMI exporter", ipmi.port)


def _controller(cluster: Cluster) -> Iterator[Service]:
    yield Service("slurmctld", slurm_port(cluster, "slurmctld"))
    yield _srun(cluster)
    if cluster.manifest.host.chrony:
        yield _catalogued("chrony")


def _srun(cluster: Cluster) -> Service:
    return Service("srun, salloc", cluster.manifest.slurm.srun_ports or _EPHEMERAL)


def _accounting(cluster: Cluster) -> Iterator[Service]:
    yield Service("slurmdbd", slurm_port(cluster, "slurmdbd"))


def _compute(cluster: Cluster) -> Iterator[Service]:
    stated = {str(group.slurm_options["Port"]) for group in cluster.compute if "Port" in group.slurm_options}
    for number in sorted({str(slurm_port(cluster, "slurmd")), *stated}):
        yield Service("slurmd", number)
    has_addresses = all(group.addresses for group in cluster.compute)
    source: Literal["cluster", "compute"] = "compute" if has_addresses else "cluster"
    yield Service("jobs: srun, MPI, NCCL and users' programs", _UNPRIVILEGED, source, _BOTH)


def _login(cluster: Cluster) -> Iterator[Service]:
    yield _srun(cluster)


def _sackd(cluster: Cluster) -> Iterator[Service]:
    yield Service("sackd", slurm_port(cluster, "slurmd"))


def _monitoring(cluster: Cluster) -> Iterator[Service]:
    spec = cluster.manifest.monitoring
    if not monitored(cluster):
        return
    yield Service("Prometheus", spec.port, "anyone")
    if spec.alertmanager:
        yield Service("Alertmanager", spec.alertmanager_port, "anyone")
        yield _catalogued("alertmanager-cluster")
    if grafana := spec.active_grafana:
        yield Service("Grafana", grafana.port, "anyone")


def _log_collector(cluster: Cluster) -> Iterator[Service]:
    yield Service("rsyslog", cluster.manifest.logs.port)


def _gpu(cluster: Cluster) -> Iterator[Service]:
    if any(exported(cluster, kind) for kind in cluster.gpu_types):
        yield Service("dcgm-exporter", cluster.manifest.monitoring.dcgm.port)


def _failover(_: Cluster) -> Iterator[Service]:
    first, links = ports()["corosync"], 8
    yield _catalogued("nfs")
    yield Service("corosync", f"{first.port}-{int(first.port) + links - 1}", protocols=first.protocols)


def _of_catalogue(*names: str) -> Callable[[Cluster], Iterator[Service]]:
    return lambda _: (_catalogued(name) for name in names)


SERVICES: Mapping[str, Callable[[Cluster], Iterator[Service]]] = {
    "all": _all,
    "slurm_controller": _controller,
    "slurm_accounting": _accounting,
    "slurm_compute": _compute,
    "login": _login,
    "sackd_node": _sackd,
    "monitoring": _monitoring,
    "log_collector": _log_collector,
    "gpu_node": _gpu,
    "nfs_server": _of_catalogue("nfs"),
    "nfs_failover": _failover,
    # Servers of these file systems connect to their clients.
    "lustre_client": _of_catalogue("lustre"),
    "beegfs_client": _of_catalogue("beegfs-client"),
    "weka_client": _of_catalogue("weka", "weka-agent"),
    "storage_scale_client": _of_catalogue("gpfs"),
}
"""Group → services of its nodes."""


@once_per_cluster
def _sources(cluster: Cluster) -> tuple[Source, ...]:
    """Sets with elements: the cluster's networks, and the addresses of nodes that reach the ports of jobs.

    Those are compute nodes, and with a guide the nodes where users log in: tunnels to Jupyter begin there.
    """
    networks = ip_networks(cluster)
    groups = {group.index: group for group in (*cluster.compute, *users_groups(cluster))}
    elements = {
        "cluster": tuple(dict.fromkeys(network.cidr for network in networks if network.cidr)),
        "compute": _folded(
            [text for group in groups.values() for net in networks for text in addresses_in(group, net)]
        ),
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
