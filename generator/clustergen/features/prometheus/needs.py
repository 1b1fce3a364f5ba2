"""Contributions of Prometheus to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.metrics import self_metrics
from clustergen.cluster.contributions import Daemon, Exported, NodePath, PackageOf, ScrapeJob
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Prometheus


def daemons(prometheus: Prometheus) -> Iterator[Daemon]:
    yield Daemon(prometheus.port, prometheus.port_at, "Prometheus", "monitoring", source="anyone")


def scrape_jobs(cluster: Cluster, prometheus: Prometheus) -> Iterator[ScrapeJob]:
    yield ScrapeJob("prometheus", cluster.with_role("monitoring"), prometheus.port)


def exported(_: Prometheus) -> Iterator[Exported]:
    yield Exported(tuple(name for name, metric in self_metrics().items() if metric.program == "prometheus"))


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("prometheus.service", "prometheus")


def programs(cluster: Cluster) -> Iterator[NodePath]:
    """Of systems that have no package of it."""
    servers = cluster.with_role("monitoring")
    if servers and all(group.type.os.fact("repository_prometheus") == "archive" for group in servers):
        yield NodePath("monitoring", "/usr/local/bin/prometheus")
