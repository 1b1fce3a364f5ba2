"""Alertmanager on the monitoring nodes."""

from __future__ import annotations

from clustergen.catalogue.network import ports
from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.cluster.slurm.model import Slurm
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
    has_slurm: bool


@record
class Service:
    """The unit of systems without a package; with peers, more arguments are in the file of the host."""

    unit: str
    arguments: tuple[str, ...]
    has_peers: bool


def _arguments(alertmanager: resolved.Alertmanager) -> tuple[str, ...]:
    return (f"--web.listen-address=:{alertmanager.port}", "--cluster.listen-address=")  # alone


def _has_peers(cluster: Cluster) -> bool:
    return len(cluster.of(Monitoring).hosts) > 1


def peers(cluster: Cluster, os: OperatingSystem, alertmanager: resolved.Alertmanager) -> dict[str, Arguments] | None:
    """By host: without its own address Alertmanager takes one that is private, and does not start where none is."""
    if not _has_peers(cluster):
        return None
    hosts, port = cluster.of(Monitoring).hosts, ports()["alertmanager-cluster"].port
    web = f"--web.listen-address=:{alertmanager.port}"
    others = [f"--cluster.peer={host}:{port}" for host in hosts]
    addresses = {host: _endpoint(cluster.address[host], port) for host in hosts if host in cluster.address}
    listen = f"--cluster.listen-address=0.0.0.0:{port}"
    return {
        host: Arguments(os.fact("alertmanager_unit"), (web, listen, f"--cluster.advertise-address={address}", *others))
        for host, address in addresses.items()
    }


@record
class DropIn:
    """The drop-in with the arguments of this host."""

    unit: str


def drop_in(cluster: Cluster, os: OperatingSystem, _: resolved.Alertmanager) -> DropIn | None:
    return DropIn(os.fact("alertmanager_unit")) if _has_peers(cluster) else None


def _endpoint(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def alertmanager(cluster: Cluster, os: OperatingSystem, alertmanager: resolved.Alertmanager) -> Alertmanager:
    return Alertmanager(os.fact("alertmanager_unit"), alertmanager, cluster.has(Slurm))


def environment(cluster: Cluster, os: OperatingSystem, alertmanager: resolved.Alertmanager) -> Arguments | None:
    if not os.fact("alertmanager_env_file") or _has_peers(cluster):
        return None
    return Arguments(os.fact("alertmanager_unit"), _arguments(alertmanager))


def service(cluster: Cluster, os: OperatingSystem, alertmanager: resolved.Alertmanager) -> Service | None:
    if os.fact("alertmanager_env_file"):
        return None
    options = (f"--config.file={os.fact('alertmanager_conf')}", "--storage.path=/var/lib/alertmanager")
    has_peers = _has_peers(cluster)
    static = () if has_peers else _arguments(alertmanager)
    return Service(os.fact("alertmanager_unit"), (*options, *static), has_peers)


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
    File(
        f"{_ETC}/clustergen/alertmanager-{{host}}",
        peers,
        restarts,
        per="os",
        source=f"{_ETC}/default/prometheus-alertmanager",
    ),
    File(
        f"{_ETC}/systemd/system/{{os.alertmanager_unit}}.d/50-clustergen.conf",
        drop_in,
        restarts,
        per="os",
        source=f"{_ETC}/systemd/system/alertmanager.service.d/50-clustergen.conf",
    ),
    File(f"{_ETC}/systemd/system/alertmanager.service", service, restarts, per="os"),
)
