"""Prometheus on the monitoring nodes: rules, targets, runbooks; a job per kind of exporter, and the targets of each.

Targets are host names, as /etc/hosts of every node has them, so that a new address changes no file here. One name per
line: a new node changes one line per job. `instance` is the host's name without a port in all of our jobs, so that
alerts of one node match each other, whichever exporter they are from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster import monitoring as ground
from clustergen.cluster.contributions import Notifier, ScrapeJob, Targets
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.monitoring import Monitoring
from clustergen.cluster.nvlink import domains
from clustergen.cluster.slurm.model import Slurm
from clustergen.features.prometheus import runbooks
from clustergen.features.prometheus.resolved import Samples
from clustergen.records import record, replace
from clustergen.render.alerts import RUNBOOKS, Alert, Recording, runbook
from clustergen.render.arguments import Arguments, reloads, restarts
from clustergen.render.effects import NONE, Effect
from clustergen.render.file import Context, File, View
from clustergen.render.views.alerts import topics
from clustergen.render.views.dashboards import page_of
from clustergen.units import Duration


@record
class TargetGroup:
    """Targets with the same labels."""

    targets: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]


def jobs(cluster: Cluster) -> dict[str, ScrapeJob]:
    """All jobs by name, the manifest's own among them."""
    of_site = (
        ScrapeJob(name, others=(Targets(addresses),), has_hosts=False)
        for name, addresses in cluster.of(Samples).targets.items()
    )
    return {job.name: job for job in (*cluster.needs(ScrapeJob), *of_site)}


def target_groups(cluster: Cluster, job: ScrapeJob) -> tuple[TargetGroup, ...]:
    """A group for the hosts of each entry, rack, leaf and NVLink domain, and one for the manifest's own targets."""
    racks = {host: rack.name for rack in cluster.racks for host in rack.hosts}
    leaves = {host: leaf.name for leaf in (cluster.slurm.leaves if cluster.has(Slurm) else ()) for host in leaf.nodes}
    domain_of = {host: name for name, hosts in domains(cluster).items() for host in hosts}
    parts = [part for group in job.members for part in _split(cluster, group, (racks, leaves, domain_of), job)]
    common = ("cluster", cluster.of(Samples).labels["cluster"])
    for other in job.others:
        labels = tuple((name, text) for name, text in other.labels if text)
        parts.append(TargetGroup(other.addresses, (common, *labels)))
    return tuple(parts)


def _split(
    cluster: Cluster, group: NodeGroup, places: tuple[dict[str, str], ...], job: ScrapeJob
) -> Iterator[TargetGroup]:
    """The hosts of one entry of the manifest, by rack, leaf switch and NVLink domain."""
    by_place: dict[tuple[str, ...], list[str]] = {}
    for host in group.hosts:
        by_place.setdefault(tuple(each.get(host, "") for each in places), []).append(host)
    for (rack, leaf, domain), hosts in by_place.items():
        labels = {
            "cluster": cluster.of(Samples).labels["cluster"],
            "node_type": group.type.name,
            "roles": ",".join(group.roles),
            "rack": rack,
            "leaf": leaf,
            "nvlink_domain": domain,
        }
        yield TargetGroup(
            tuple(f"{host}{job.suffix}:{job.port}" for host in hosts),
            tuple((name, text) for name, text in labels.items() if text),
        )


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
    return {job.name: {"job": job.name, "groups": target_groups(cluster, job)} for job in jobs(cluster).values()}


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
