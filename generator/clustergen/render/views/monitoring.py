"""The monitoring nodes: Prometheus with its rules and targets, and Alertmanager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clustergen.catalogue.network import ports
from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster import monitoring as ground
from clustergen.cluster.features import monitoring
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.records import record, replace
from clustergen.render.alerts import Alert, Recording
from clustergen.render.effects import NONE, Effect, reload, restart
from clustergen.render.file import File, View
from clustergen.render.formats import YAML, Format
from clustergen.render.views import grafana, runbooks, scrape
from clustergen.render.views.alerts import runbook, topics
from clustergen.render.views.scrape import Job, TargetGroup, jobs
from clustergen.units import Duration

OPEN_FILES = 131072
_PROMETHEUS_UNITS = ((86_400, "d"), (3600, "h"), (60, "m"), (1, "s"))


@record
class Prometheus:
    """prometheus.yml; times in seconds."""

    unit: str
    interval: int
    timeout: int
    labels: tuple[tuple[str, str], ...]
    rules: tuple[str, ...]
    alertmanagers: tuple[str, ...]
    jobs: tuple[Job, ...]
    remote_write: tuple[str, ...]


@record
class Linked:
    """An alert with the URLs of its runbook and of the dashboard that shows what it is about."""

    rule: Alert
    runbook: str
    dashboard: str | None


@record
class Rules:
    """One file of rules."""

    unit: str
    topic: str
    title: str
    recordings: tuple[Recording, ...]
    alerts: tuple[Linked, ...]


@record
class Targets:
    """One file of targets."""

    job: str
    groups: tuple[TargetGroup, ...]


@record
class Arguments:
    """A daemon's command line."""

    unit: str
    arguments: tuple[str, ...]
    open_files: int = OPEN_FILES


@record
class Alertmanager:
    """alertmanager.yml."""

    unit: str
    alertmanager: monitoring.Alertmanager


def prometheus(cluster: Cluster, os: OperatingSystem) -> Prometheus | None:
    if not cluster.has(ground.Prometheus):
        return None
    settings, interval_s = cluster.of(ground.Prometheus), cluster.of(ground.Scraping).interval_s
    has_alertmanager, hosts = cluster.has(monitoring.Alertmanager), cluster.of(Monitoring).hosts
    return Prometheus(
        unit=os.fact("prometheus_unit"),
        interval=interval_s,
        timeout=min(10, interval_s),
        labels=tuple(settings.labels.items()),
        rules=tuple(topics(cluster)),
        alertmanagers=tuple(f"{host}:{cluster.of(monitoring.Alertmanager).port}" for host in hosts if has_alertmanager),
        jobs=tuple(jobs(cluster).values()),
        remote_write=cluster.of(monitoring.Samples).remote_write,
    )


def rules(cluster: Cluster, os: OperatingSystem) -> dict[str, Rules]:
    if not cluster.has(Monitoring):
        return {}
    unit = os.fact("prometheus_unit")
    return {
        name: Rules(
            unit,
            name,
            topic.title,
            topic.recordings,
            tuple(
                Linked(
                    replace(alert, action=alert.action.replace("`", "")),
                    runbook.address(cluster, alert.name),
                    grafana.page_of(cluster, topic, alert),
                )
                for alert in topic.alerts
            ),
        )
        for name, topic in topics(cluster).items()
    }


def runbook_page(cluster: Cluster, _os: OperatingSystem) -> runbooks.Page | None:
    return runbooks.page(cluster) if cluster.has(Monitoring) else None


def targets(cluster: Cluster, _os: OperatingSystem) -> dict[str, Targets]:
    if not cluster.has(Monitoring):
        return {}
    return {job.name: Targets(job.name, scrape.targets(cluster, job)) for job in jobs(cluster).values()}


def _prometheus_arguments(cluster: Cluster) -> tuple[str, ...]:
    samples = cluster.of(monitoring.Samples)
    size = samples.retention_size
    return (
        f"--web.listen-address=:{cluster.of(ground.Prometheus).port}",
        f"--storage.tsdb.retention.time={_prometheus_time(samples.retention)}",
        *([f"--storage.tsdb.retention.size={size.mib}MB"] if size else []),  # Prometheus' MB is 2^20 bytes
    )


def _prometheus_time(length: Duration) -> str:
    """The time in Prometheus' syntax: `30d`; it has no word for unlimited."""
    seconds = length.seconds
    if seconds is None:
        return "100y"
    size, unit = next((size, unit) for size, unit in _PROMETHEUS_UNITS if seconds % size == 0)
    return f"{seconds // size}{unit}"


def _alertmanager_arguments(cluster: Cluster) -> tuple[str, ...]:
    hosts = cluster.of(Monitoring).hosts
    port = ports()["alertmanager-cluster"].port
    peers = [f"--cluster.peer={host}:{port}" for host in hosts]
    alone = ["--cluster.listen-address="]  # switches gossip off
    gossip = [f"--cluster.listen-address=0.0.0.0:{port}", *peers] if len(hosts) > 1 else alone
    return (f"--web.listen-address=:{cluster.of(monitoring.Alertmanager).port}", *gossip)


def prometheus_environment(cluster: Cluster, os: OperatingSystem) -> Arguments | None:
    """Where the distribution's unit takes its arguments from a file."""
    if not cluster.has(Monitoring) or not os.fact("prometheus_env_file"):
        return None
    return Arguments(os.fact("prometheus_unit"), _prometheus_arguments(cluster))


def prometheus_dropin(cluster: Cluster, os: OperatingSystem) -> Arguments | None:
    return prometheus_environment(cluster, os)


def prometheus_service(cluster: Cluster, os: OperatingSystem) -> Arguments | None:
    """A unit of ours, where no package brings one."""
    if not cluster.has(Monitoring) or os.fact("prometheus_env_file"):
        return None
    options = (
        f"--config.file={os.fact('prometheus_conf_dir')}/prometheus.yml",
        f"--storage.tsdb.path={os.fact('prometheus_data_dir')}",
        f"--web.console.templates={os.fact('prometheus_conf_dir')}/consoles",  # Debian's build has it as its default
    )
    return Arguments(os.fact("prometheus_unit"), (*options, *_prometheus_arguments(cluster)))


def alertmanager(cluster: Cluster, os: OperatingSystem) -> Alertmanager | None:
    if not cluster.has(monitoring.Alertmanager):
        return None
    return Alertmanager(os.fact("alertmanager_unit"), cluster.of(monitoring.Alertmanager))


def alertmanager_environment(cluster: Cluster, os: OperatingSystem) -> Arguments | None:
    if not cluster.has(monitoring.Alertmanager) or not os.fact("alertmanager_env_file"):
        return None
    return Arguments(os.fact("alertmanager_unit"), _alertmanager_arguments(cluster))


def alertmanager_service(cluster: Cluster, os: OperatingSystem) -> Arguments | None:
    if not cluster.has(monitoring.Alertmanager) or os.fact("alertmanager_env_file"):
        return None
    options = (f"--config.file={os.fact('alertmanager_conf')}", "--storage.path=/var/lib/alertmanager")
    return Arguments(os.fact("alertmanager_unit"), (*options, *_alertmanager_arguments(cluster)))


def _reload(view: Any) -> Effect:
    return reload(view.unit)


def _restart(view: Any) -> Effect:
    return restart(view.unit)


_PROMETHEUS = "etc/prometheus"
_UNITS = "etc/systemd/system"


def _file(
    path: str, view: View, effect: Effect | Callable[[Any], Effect], source: str, form: Format | None = None
) -> File:
    return File(f"monitoring/{path}", view, effect, per="os", source=f"monitoring/{source}", format=form)


FILES = (
    _file("{os.prometheus_conf_dir}/prometheus.yml", prometheus, _reload, f"{_PROMETHEUS}/prometheus.yml"),
    _file("{os.prometheus_conf_dir}/rules/{topic}.yml", rules, _reload, f"{_PROMETHEUS}/rules/topic.yml"),
    _file(
        f"{{os.prometheus_conf_dir}}/consoles/{runbook.PAGE}",
        runbook_page,
        NONE,
        f"{_PROMETHEUS}/consoles/{runbook.PAGE}",
    ),
    _file("{os.prometheus_conf_dir}/sd/{job}.yml", targets, NONE, f"{_PROMETHEUS}/sd/job.yml"),
    _file("{os.prometheus_env_file}", prometheus_environment, _restart, "etc/default/prometheus"),
    _file("{os.alertmanager_conf}", alertmanager, _reload, f"{_PROMETHEUS}/alertmanager.yml", YAML),
    _file("{os.alertmanager_env_file}", alertmanager_environment, _restart, "etc/default/prometheus-alertmanager"),
    File(f"monitoring/{_UNITS}/prometheus.service.d/50-clustergen.conf", prometheus_dropin, _restart, per="os"),
    File(f"monitoring/{_UNITS}/prometheus.service", prometheus_service, _restart, per="os"),
    File(f"monitoring/{_UNITS}/alertmanager.service", alertmanager_service, _restart, per="os"),
)
