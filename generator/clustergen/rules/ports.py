"""Two daemons of one node cannot listen on one port."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from clustergen.catalogue.network import ports
from clustergen.cluster.contributions import Daemon
from clustergen.cluster.dcgm import Dcgm
from clustergen.cluster.features.ansible import Ssh
from clustergen.cluster.features.monitoring import Alertmanager, Blackbox, Grafana, Ipmi, Snmp
from clustergen.cluster.groups import membership
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.monitoring import NodeExporter, Prometheus
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.model import ROLES
from clustergen.diagnostics import Finding, ManifestPath


class _Daemon(NamedTuple):
    name: str
    port: int
    path: ManifestPath | None
    """The field of the manifest that says the port; None where none does, or the manifest leaves it to us."""
    groups: tuple[NodeGroup, ...]


def _daemons(cluster: Cluster) -> Iterator[_Daemon]:
    """Who listens where, the system's own first."""
    accounting, servers = cluster.with_role("slurm-accounting"), cluster.with_role("monitoring")
    ssh = cluster.of(Ssh)
    yield _Daemon("sshd", ssh.port, ssh.port_at, cluster.groups)
    if cluster.of(Accounting).database_is_local:
        yield _Daemon("MariaDB", ports()["mariadb"].port, None, accounting)
    members = membership(cluster)
    for daemon in cluster.needs(Daemon):
        yield _Daemon(daemon.name, daemon.port, daemon.port_at, members.get(daemon.group, ()))
    for name, one in cluster.slurm.daemons.items():
        yield _Daemon(name, one.port, one.port_at, cluster.with_role(ROLES[name]))
    if cluster.has(Dcgm) and cluster.of(Dcgm).exports:
        dcgm = cluster.of(Dcgm)
        gpu_nodes = tuple(group for group in cluster.compute if group.type.name in dcgm.node_types)
        yield _Daemon("DCGM", ports()["dcgm"].port, None, gpu_nodes)
        yield _Daemon("dcgm-exporter", dcgm.port, dcgm.port_at, gpu_nodes)
    for name, kind, groups in (
        ("the node exporter", NodeExporter, cluster.groups),
        ("the IPMI exporter", Ipmi, tuple(group for group in cluster.groups if group.bmc)),
        ("the blackbox exporter", Blackbox, servers),
        ("the SNMP exporter", Snmp, servers),
        ("Prometheus", Prometheus, servers),
        ("Grafana", Grafana, servers),
        ("Alertmanager", Alertmanager, servers),
    ):
        if cluster.has(kind):
            listener = cluster.of(kind)
            yield _Daemon(name, listener.port, listener.port_at, groups)
    if cluster.has(Alertmanager) and sum(len(group.hosts) for group in servers) > 1:
        yield _Daemon("Alertmanager, for its peers,", ports()["alertmanager-cluster"].port, None, servers)


def port_twice(cluster: Cluster) -> Iterator[Finding]:
    seen: list[_Daemon] = []
    for daemon in _daemons(cluster):
        for other in seen:
            shared = [group for group in daemon.groups if group in other.groups] if daemon.port == other.port else []
            path = daemon.path or other.path
            if shared and path:
                where = shared[0].folded
                yield Finding(
                    "port-twice",
                    path,
                    f"{other.name} and {daemon.name} would both listen on port {daemon.port} of {where}",
                )
        seen.append(daemon)
