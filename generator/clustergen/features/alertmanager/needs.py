"""Contributions of Alertmanager to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.metrics import self_metrics
from clustergen.catalogue.network import ports
from clustergen.cluster.contributions import (
    Daemon,
    Exported,
    NodePath,
    Notifier,
    PackageOf,
    ScrapeJob,
    Secret,
    Use,
    WrittenPath,
)
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.features.alertmanager.resolved import Alertmanager


def daemons(cluster: Cluster, alertmanager: Alertmanager) -> Iterator[Daemon]:
    yield Daemon(alertmanager.port, alertmanager.port_at, "Alertmanager", "monitoring", source="anyone")
    if len(cluster.of(Monitoring).hosts) > 1:
        peers = ports()["alertmanager-cluster"]
        yield Daemon(peers.port, None, "alertmanager-cluster", "monitoring", protocols=peers.protocols)


def scrape_jobs(cluster: Cluster, alertmanager: Alertmanager) -> Iterator[ScrapeJob]:
    yield ScrapeJob("alertmanager", cluster.with_role("monitoring"), alertmanager.port)


def notifiers(alertmanager: Alertmanager) -> Iterator[Notifier]:
    yield Notifier(alertmanager.port)


def secrets(alertmanager: Alertmanager) -> Iterator[Secret]:
    for name, receiver in alertmanager.receivers.items():
        for path in filter(None, (receiver.webhook_url_file, receiver.slack_url_file)):
            yield Secret(f"alerts-{name}", path, ("monitoring",), owner="prometheus", mode="0400", origin="given")


def exported(_: Alertmanager) -> Iterator[Exported]:
    yield Exported(tuple(name for name, metric in self_metrics().items() if metric.program == "alertmanager"))


def paths(alertmanager: Alertmanager) -> Iterator[WrittenPath]:
    use = Use(
        "the URL of a receiver",
        "/etc/prometheus/secrets/{name}",
        "alerts would not be delivered without it",
        is_directory=False,
        of_administrator=True,
    )
    for name, receiver in alertmanager.receivers.items():
        for field in ("webhook_url_file", "slack_url_file"):
            if path := getattr(receiver, field):
                yield WrittenPath(("monitoring", "receivers", name, field), path, use, name)


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("prometheus-alertmanager.service", "alertmanager")
    yield PackageOf("alertmanager.service", "alertmanager")


def programs(cluster: Cluster) -> Iterator[NodePath]:
    """Of systems that have no package of it."""
    servers = cluster.with_role("monitoring")
    if servers and all(group.type.os.fact("repository_alertmanager") == "archive" for group in servers):
        yield NodePath("monitoring", "/usr/local/bin/alertmanager")
