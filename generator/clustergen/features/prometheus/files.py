"""Prometheus on the monitoring nodes: rules, targets, runbooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster import monitoring as ground
from clustergen.cluster.contributions import Notifier, ScrapeJob
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.features.prometheus import runbooks, scrape
from clustergen.features.prometheus.resolved import Samples
from clustergen.features.prometheus.scrape import jobs
from clustergen.records import record, replace
from clustergen.render.alerts import RUNBOOKS, Alert, Recording, runbook
from clustergen.render.arguments import Arguments, reloads, restarts
from clustergen.render.effects import NONE, Effect
from clustergen.render.file import Context, File, View
from clustergen.render.views.alerts import topics
from clustergen.render.views.dashboards import page_of
from clustergen.units import Duration

_PROMETHEUS_UNITS = ((86_400, "d"), (3600, "h"), (60, "m"), (1, "s"))


@record
class Prometheus:
    """prometheus.yml; times in seconds."""

    unit: str
    interval: int
    timeout: int
    labels: tuple[tuple[str, str], ...]
    has_replica: bool
    rules: tuple[str, ...]
    alertmanagers: tuple[str, ...]
    jobs: tuple[ScrapeJob, ...]
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
class Daemon(Arguments):
    """Prometheus' command line and its limit of open files."""

    open_files: int = 131072
    has_replica: bool = False


def prometheus(cluster: Cluster, os: OperatingSystem, _: ground.Prometheus) -> Prometheus:
    samples, interval_s = cluster.of(Samples), cluster.of(ground.Scraping).interval_s
    hosts, notifiers = cluster.of(Monitoring).hosts, cluster.needs(Notifier)
    return Prometheus(
        unit=os.fact("prometheus_unit"),
        interval=interval_s,
        timeout=min(10, interval_s),
        labels=tuple(samples.labels.items()),
        has_replica=_has_replica(cluster),
        rules=tuple(topics(cluster)),
        alertmanagers=tuple(f"{host}:{notifier.port}" for host in hosts for notifier in notifiers),
        jobs=tuple(jobs(cluster).values()),
        remote_write=samples.remote_write,
    )


def rules(cluster: Cluster, os: OperatingSystem, _: Monitoring) -> dict[str, Rules]:
    unit = os.fact("prometheus_unit")
    return {
        name: Rules(
            unit,
            name,
            topic.title,
            topic.recordings,
            tuple(
                Linked(
                    replace(
                        alert,
                        summary=_filled(alert, alert.summary),
                        meaning=_filled(alert, alert.meaning),
                        action=_filled(alert, alert.action).replace("`", ""),
                    ),
                    runbook(cluster, alert.name),
                    page_of(cluster, topic, alert),
                )
                for alert in topic.alerts
            ),
        )
        for name, topic in topics(cluster).items()
    }


def _filled(alert: Alert, text: str) -> str:
    """The text with the labels that the rule adds: Prometheus fills in those of the series alone."""
    for name, value in alert.labels:
        text = text.replace(f"{{{{ $labels.{name} }}}}", value)
    return text


def runbook_page(cluster: Cluster, _os: OperatingSystem) -> runbooks.Page | None:
    return runbooks.page(cluster) if cluster.has(Monitoring) else None


def targets(cluster: Cluster, _os: OperatingSystem, _: Monitoring) -> dict[str, Context]:
    """One file of targets."""
    return {job.name: {"job": job.name, "groups": scrape.targets(cluster, job)} for job in jobs(cluster).values()}


def _prometheus_arguments(cluster: Cluster) -> tuple[str, ...]:
    samples = cluster.of(Samples)
    size = samples.retention_size
    return (
        f"--web.listen-address=:{cluster.of(ground.Prometheus).port}",
        f"--storage.tsdb.retention.time={_prometheus_time(samples.retention)}",
        *([f"--storage.tsdb.retention.size={size.mib}MB"] if size else []),  # Prometheus' MB is 2^20 bytes
        *(["--enable-feature=expand-external-labels"] if _has_replica(cluster) else []),
    )


def _has_replica(cluster: Cluster) -> bool:
    """True if remote stores receive each sample more than once, and keep one by its label."""
    return bool(cluster.of(Samples).remote_write) and len(cluster.of(Monitoring).hosts) > 1


def _prometheus_time(length: Duration) -> str:
    """The time in Prometheus' syntax: `30d`; it has no word for unlimited."""
    seconds = length.seconds
    if seconds is None:
        return "100y"
    size, unit = next((size, unit) for size, unit in _PROMETHEUS_UNITS if seconds % size == 0)
    return f"{seconds // size}{unit}"


def prometheus_environment(cluster: Cluster, os: OperatingSystem) -> Daemon | None:
    """Where the distribution's unit takes its arguments from a file."""
    if not cluster.has(Monitoring) or not os.fact("prometheus_env_file"):
        return None
    return Daemon(os.fact("prometheus_unit"), _prometheus_arguments(cluster), has_replica=_has_replica(cluster))


def prometheus_service(cluster: Cluster, os: OperatingSystem) -> Daemon | None:
    """A unit of ours, where no package brings one."""
    if not cluster.has(Monitoring) or os.fact("prometheus_env_file"):
        return None
    options = (
        f"--config.file={os.fact('prometheus_conf_dir')}/prometheus.yml",
        f"--storage.tsdb.path={os.fact('prometheus_data_dir')}",
        f"--web.console.templates={os.fact('prometheus_conf_dir')}/consoles",  # Debian's build has it as its default
    )
    arguments = (*options, *_prometheus_arguments(cluster))
    return Daemon(os.fact("prometheus_unit"), arguments, has_replica=_has_replica(cluster))


_PROMETHEUS = "etc/prometheus"
_UNITS = "etc/systemd/system"


def _file(path: str, view: View, effect: Effect | Callable[[Any], Effect], source: str) -> File:
    return File(f"monitoring/{path}", view, effect, per="os", source=f"monitoring/{source}")


FILES = (
    _file("{os.prometheus_conf_dir}/prometheus.yml", prometheus, reloads, f"{_PROMETHEUS}/prometheus.yml"),
    _file("{os.prometheus_conf_dir}/rules/{topic}.yml", rules, reloads, f"{_PROMETHEUS}/rules/topic.yml"),
    _file(
        f"{{os.prometheus_conf_dir}}/consoles/{RUNBOOKS}",
        runbook_page,
        NONE,
        f"{_PROMETHEUS}/consoles/{RUNBOOKS}",
    ),
    _file("{os.prometheus_conf_dir}/sd/{job}.yml", targets, NONE, f"{_PROMETHEUS}/sd/job.yml"),
    _file("{os.prometheus_env_file}", prometheus_environment, restarts, "etc/default/prometheus"),
    File(f"monitoring/{_UNITS}/prometheus.service.d/50-clustergen.conf", prometheus_environment, restarts, per="os"),
    File(f"monitoring/{_UNITS}/prometheus.service", prometheus_service, restarts, per="os"),
)
