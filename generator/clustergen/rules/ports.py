"""Two daemons of one node cannot listen on one port."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, get_args

from clustergen.catalogue.network import ports
from clustergen.cluster.features.ansible import Ssh
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.nfs import answers_quotas, served, server_port
from clustergen.cluster.slurm.model import ROLES
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.manifest.slurm import Daemon


class _Daemon(NamedTuple):
    name: str
    port: int
    path: ManifestPath | None
    """The field of the manifest that says the port; None where none does, or the manifest leaves it to us."""
    groups: tuple[NodeGroup, ...]


def _daemons(cluster: Cluster) -> Iterator[_Daemon]:
    """Who listens where, the system's own first."""
    slurm, monitoring = cluster.manifest.slurm, cluster.manifest.monitoring
    gpu_types = {node_type.name for node_type in cluster.gpu_types}
    gpu_nodes = tuple(group for group in cluster.compute if group.type.name in gpu_types)
    accounting, servers = cluster.with_role("slurm-accounting"), cluster.with_role("monitoring")
    ssh = cluster.of(Ssh)
    yield _Daemon("sshd", ssh.port, ssh.port_at, cluster.groups)
    if slurm.accounting.database_host == "localhost":
        yield _Daemon("MariaDB", ports()["mariadb"].port, None, accounting)
    logs = cluster.manifest.logs
    path: ManifestPath | None = ("logs", "port") if "port" in logs.model_fields_set else None
    yield _Daemon("rsyslog", logs.port, path, cluster.with_role("log-collector"))
    port, entry = server_port(cluster)
    path = ("storage", entry, "port") if entry else None
    yield _Daemon("the NFS server", port, path, cluster.with_role("nfs-server"))
    if any(answers_quotas(cluster, entry) for entry in served(cluster).values()):
        yield _Daemon("rpcbind", ports()["rpcbind"].port, None, cluster.with_role("nfs-server"))
        yield _Daemon("rpc.rquotad", ports()["rquotad"].port, None, cluster.with_role("nfs-server"))
    for name in get_args(Daemon):
        path = ("slurm", "ports", name) if name in slurm.ports else None
        yield _Daemon(name, cluster.slurm.daemons[name].port, path, cluster.with_role(ROLES[name]))
    if not monitoring.enabled or not servers:
        return
    exporter, dcgm = monitoring.node_exporter, monitoring.dcgm
    if dcgm.enabled is not False:
        yield _Daemon("DCGM", ports()["dcgm"].port, None, gpu_nodes)
        path = ("monitoring", "dcgm", "port") if "port" in dcgm.model_fields_set else None
        yield _Daemon("dcgm-exporter", dcgm.port, path, gpu_nodes)
    if exporter.enabled:
        path = ("monitoring", "node_exporter", "port") if "port" in exporter.model_fields_set else None
        yield _Daemon("the node exporter", exporter.port, path, cluster.groups)
    if monitoring.ipmi:
        path = ("monitoring", "ipmi", "port") if "port" in monitoring.ipmi.model_fields_set else None
        yield _Daemon(
            "the IPMI exporter", monitoring.ipmi.port, path, tuple(group for group in cluster.groups if group.bmc)
        )
    if monitoring.blackbox:
        path = ("monitoring", "blackbox", "port") if "port" in monitoring.blackbox.model_fields_set else None
        yield _Daemon("the blackbox exporter", monitoring.blackbox.port, path, servers)
    if monitoring.snmp:
        path = ("monitoring", "snmp", "port") if "port" in monitoring.snmp.model_fields_set else None
        yield _Daemon("the SNMP exporter", monitoring.snmp.port, path, servers)
    path = ("monitoring", "port") if "port" in monitoring.model_fields_set else None
    yield _Daemon("Prometheus", monitoring.port, path, servers)
    if grafana := monitoring.active_grafana:
        path = ("monitoring", "grafana", "port") if "port" in grafana.model_fields_set else None
        yield _Daemon("Grafana", grafana.port, path, servers)
    if monitoring.alertmanager:
        path = ("monitoring", "alertmanager_port") if "alertmanager_port" in monitoring.model_fields_set else None
        yield _Daemon("Alertmanager", monitoring.alertmanager_port, path, servers)
        if sum(len(group.hosts) for group in servers) > 1:
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
