"""Alertmanager on the monitoring nodes."""

from __future__ import annotations

from clustergen.catalogue.network import ports
from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.features.alertmanager import resolved
from clustergen.records import record
from clustergen.render.arguments import Arguments, reloads, restarts
from clustergen.render.file import File
from clustergen.render.formats import YAML


@record
class Alertmanager:
    """alertmanager.yml."""

    unit: str
    alertmanager: resolved.Alertmanager


def _arguments(cluster: Cluster) -> tuple[str, ...]:
    hosts = cluster.of(Monitoring).hosts
    port = ports()["alertmanager-cluster"].port
    peers = [f"--cluster.peer={host}:{port}" for host in hosts]
    alone = ["--cluster.listen-address="]  # switches gossip off
    gossip = [f"--cluster.listen-address=0.0.0.0:{port}", *peers] if len(hosts) > 1 else alone
    return (f"--web.listen-address=:{cluster.of(resolved.Alertmanager).port}", *gossip)


def alertmanager(cluster: Cluster, os: OperatingSystem) -> Alertmanager | None:
    if not cluster.has(resolved.Alertmanager):
        return None
    return Alertmanager(os.fact("alertmanager_unit"), cluster.of(resolved.Alertmanager))


def environment(cluster: Cluster, os: OperatingSystem) -> Arguments | None:
    if not cluster.has(resolved.Alertmanager) or not os.fact("alertmanager_env_file"):
        return None
    return Arguments(os.fact("alertmanager_unit"), _arguments(cluster))


def service(cluster: Cluster, os: OperatingSystem) -> Arguments | None:
    if not cluster.has(resolved.Alertmanager) or os.fact("alertmanager_env_file"):
        return None
    options = (f"--config.file={os.fact('alertmanager_conf')}", "--storage.path=/var/lib/alertmanager")
    return Arguments(os.fact("alertmanager_unit"), (*options, *_arguments(cluster)))


_ETC = "monitoring/etc"
FILES = (
    File(
        "monitoring/{os.alertmanager_conf}",
        alertmanager,
        reloads,
        per="os",
        source=f"{_ETC}/prometheus/alertmanager.yml",
        format=YAML,
    ),
    File(
        "monitoring/{os.alertmanager_env_file}",
        environment,
        restarts,
        per="os",
        source=f"{_ETC}/default/prometheus-alertmanager",
    ),
    File(f"{_ETC}/systemd/system/alertmanager.service", service, restarts, per="os"),
)
