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
from clustergen.features.logs.resolved import SEARCH_PASSWORD, Logs

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


def certificates(logs: Logs) -> Iterator[Certificate]:
    if logs.tls:
        yield Certificate(logs.tls.certificate)
        yield Certificate(logs.tls.ca)
    if logs.search and logs.search.ca:
        yield Certificate(logs.search.ca)


def requisites(logs: Logs) -> Iterator[Requisite]:
    if tls := logs.tls:
        yield Requisite("certificates of the log transport", ("all",), f"{tls.ca}, {tls.certificate}, {tls.key}")
    if logs.search and logs.search.ca:
        yield Requisite("certificate of the search servers' authority", ("log_collector",), logs.search.ca)


def secrets(logs: Logs) -> Iterator[Secret]:
    if logs.search and logs.search.user:
        effect = "restart:rsyslog.service"
        yield Secret(
            "log-search", SEARCH_PASSWORD, ("log_collector",), owner="root", mode="0400", origin="given", effect=effect
        )


def writers(logs: Logs, _: NodeExporter) -> Iterator[SafeWriter]:
    if logs.search:
        yield SafeWriter("clustergen-log-search")


def substitutions(logs: Logs) -> Iterator[Substitution]:
    if logs.search:
        yield Substitution(
            "logs without a search",
            "its servers are outside of the cluster",
            lambda document: document["logs"].pop("search"),
        )


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("rsyslog.service", "rsyslog")
    yield PackageOf("clustergen-log-search.timer", "rsyslog_search")


def exported(logs: Logs, _: NodeExporter) -> Iterator[Exported]:
    yield Exported((*METRICS, *(SEARCH_METRICS if logs.search else ())))
