"""Contributions of central logs to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Certificate, Daemon, Exported, PackageOf, Requisite
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.features.logs.resolved import Logs, LogTls

METRICS = (
    "clustergen_logs_bytes",
    "clustergen_logs_limit_bytes",
    "clustergen_logs_days",
    "clustergen_logs_hosts",
    "clustergen_logs_today_bytes",
)
"""What the collector's script writes."""


def daemons(cluster: Cluster) -> Iterator[Daemon]:
    if cluster.has(Logs):
        logs = cluster.of(Logs)
        yield Daemon(port=logs.port, port_at=logs.port_at, name="rsyslog", group="log_collector")


def certificates(cluster: Cluster) -> Iterator[Certificate]:
    if tls := _tls(cluster):
        yield Certificate(tls.certificate)
        yield Certificate(tls.ca)


def requisites(cluster: Cluster) -> Iterator[Requisite]:
    if tls := _tls(cluster):
        yield Requisite("certificates of the log transport", ("all",), f"{tls.ca}, {tls.certificate}, {tls.key}")


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("rsyslog.service", "rsyslog")


def exported(cluster: Cluster) -> Iterator[Exported]:
    if cluster.has(Logs) and cluster.has(NodeExporter):
        yield Exported(METRICS)


def _tls(cluster: Cluster) -> LogTls | None:
    return cluster.of(Logs).tls if cluster.has(Logs) else None
