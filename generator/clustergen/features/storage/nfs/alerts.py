"""Alerts on failover pairs, which stand among those on all file systems, and rates of requests for pages of Grafana."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import DashboardSite
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.features.storage.nfs.resolved import Nfs
from clustergen.render.alerts import Alert, Recording, Topic, window


def topic(cluster: Cluster) -> Topic | None:
    entries = cluster.entries(Nfs)
    if not entries or not cluster.has(NodeExporter):
        return None
    alerts = (alert for name, entry in entries.items() if entry.failover for alert in _pair(name, entry))
    return Topic("storage", "", tuple(_recordings(cluster)), tuple(alerts))


def _pair(name: str, entry: Nfs) -> Iterator[Alert]:
    """Of two servers with a moving address: one serves, and the other one could."""
    hosts = "|".join(entry.server_hosts)

    def active(unit: str) -> str:
        return f'node_systemd_unit_state{{name="{unit}.service",state="active",instance=~"{hosts}"}}'

    yield Alert(
        "NfsFailoverServers", f"(sum({active('nfs-server')}) or vector(0)) != 1", "5m", "critical",
        summary=f"{{{{ $value }}}} servers of {name} serve NFS, not 1",
        meaning="Without a server, all clients wait. Two can destroy the file system on the shared disk.",
        action=f"`crm_mon -1` on {' or '.join(entry.server_hosts)} shows failed resources and fencing. If two serve,"
        " power one off.",
        labels=(("storage", name),),
    )  # fmt: skip
    yield Alert(
        "NfsFailoverPartner", f"{active('pacemaker')} == 0", "10m", "warning",
        summary=f"{{{{ $labels.instance }}}} cannot take over {name}",
        meaning="Pacemaker does not run there. If the other server fails now, the file system is unavailable.",
        action=f"After the cause is known: `clustergen-failover {name} start` on {{{{ $labels.instance }}}}, then"
        " check.",
        labels=(("storage", name),),
    )  # fmt: skip


def _recordings(cluster: Cluster) -> Iterator[Recording]:
    if cluster.needs(DashboardSite):
        requests = f"(rate(node_nfs_requests_total[{window(cluster, 5)}]))"
        yield Recording("node:nfs_requests:rate", f"sum by (instance, node_type) {requests}")
        yield Recording("cluster:nfs_requests:rate", f"sum by (method) {requests} > 0")
