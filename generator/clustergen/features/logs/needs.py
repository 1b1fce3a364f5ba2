"""Contributions of central logs to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import (
    Certificate,
    Daemon,
    Exported,
    PackageOf,
    Requisite,
    SafeWriter,
    Secret,
    Substitution,
)
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.features.logs.resolved import SEARCH_PASSWORD, Logs, LogSearch, LogTls

METRICS = (
    "clustergen_logs_bytes",
    "clustergen_logs_limit_bytes",
    "clustergen_logs_days",
    "clustergen_logs_hosts",
    "clustergen_logs_today_bytes",
)
"""Metrics that the collector's script writes."""
SEARCH_METRICS = tuple(
    f"clustergen_logs_search_{name}" for name in ("up", "refused_documents", "waiting_bytes", "indexes")
)


def daemons(logs: Logs) -> Iterator[Daemon]:
    yield Daemon(port=logs.port, port_at=logs.port_at, name="rsyslog", group="log_collector")


def certificates(cluster: Cluster) -> Iterator[Certificate]:
    if tls := _tls(cluster):
        yield Certificate(tls.certificate)
        yield Certificate(tls.ca)
    if (search := _search(cluster)) and search.ca:
        yield Certificate(search.ca)


def requisites(cluster: Cluster) -> Iterator[Requisite]:
    if tls := _tls(cluster):
        yield Requisite("certificates of the log transport", ("all",), f"{tls.ca}, {tls.certificate}, {tls.key}")
    if (search := _search(cluster)) and search.ca:
        yield Requisite("certificate of the search servers' authority", ("log_collector",), search.ca)


def secrets(cluster: Cluster) -> Iterator[Secret]:
    if (search := _search(cluster)) and search.user:
        effect = "restart:rsyslog.service"
        yield Secret("log-search", SEARCH_PASSWORD, ("log_collector",), "root", "0400", "given", effect=effect)


def writers(cluster: Cluster) -> Iterator[SafeWriter]:
    if _search(cluster) and cluster.has(NodeExporter):
        yield SafeWriter("clustergen-log-search")


def substitutions(cluster: Cluster) -> Iterator[Substitution]:
    if _search(cluster):
        yield Substitution(
            "logs without a search",
            "its servers are outside of the cluster",
            lambda document: document["logs"].pop("search"),
        )


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("rsyslog.service", "rsyslog")
    yield PackageOf("clustergen-log-search.timer", "rsyslog_search")


def exported(cluster: Cluster, _: Logs, __: NodeExporter) -> Iterator[Exported]:
    yield Exported((*METRICS, *(SEARCH_METRICS if _search(cluster) else ())))


def _tls(cluster: Cluster) -> LogTls | None:
    return cluster.of(Logs).tls if cluster.has(Logs) else None


def _search(cluster: Cluster) -> LogSearch | None:
    return cluster.of(Logs).search if cluster.has(Logs) else None
