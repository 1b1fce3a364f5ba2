"""Contributions of process-exporter to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Daemon, Exported, PackageOf, ScrapeJob
from clustergen.cluster.model import Cluster
from clustergen_process_exporter.resolved import ProcessExporter


def daemons(cluster: Cluster) -> Iterator[Daemon]:
    if cluster.has(ProcessExporter):
        exporter = cluster.of(ProcessExporter)
        yield Daemon(exporter.port, exporter.port_at, "process exporter", "login")


def scrape_jobs(cluster: Cluster) -> Iterator[ScrapeJob]:
    if cluster.has(ProcessExporter):
        yield ScrapeJob("process", cluster.with_role("login"), cluster.of(ProcessExporter).port)


def exported(cluster: Cluster) -> Iterator[Exported]:
    if cluster.has(ProcessExporter):
        yield Exported(("namedprocess_namegroup_cpu_seconds_total", "namedprocess_namegroup_memory_bytes"))


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("prometheus-process-exporter.service", "process_exporter")
