"""Central logs as resolved."""

from __future__ import annotations

from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster
from clustergen.features.logs import section as manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import copied, record
from clustergen.units import Bytes, Duration

TEXTFILE = "logs.prom"
"""With metrics of the store, for the node exporter."""
SEARCH_TEXTFILE = "logs_search.prom"
SEARCH_PASSWORD = "/etc/clustergen/log-search.password"
"""Place of the secret, without a line break: rsyslogd refuses blanks in it."""


@record
class LogTls:
    """PEM files on every node."""

    ca: str
    certificate: str
    key: str


@record
class LogSearch:
    """Elasticsearch or OpenSearch. `retention_days`: None without a limit."""

    servers: tuple[str, ...]
    index: str
    retention_days: int | None
    user: str | None
    ca: str | None
    sender: str  # the collector that sends to it


@record
class Logs(Listener):
    """Central logs of all nodes. `retention_days`: None without a limit; sizes are per collector and per node."""

    retention_days: int | None
    retention_size: Bytes
    queue_size: Bytes
    tls: LogTls | None
    search: LogSearch | None


def resolve(section: manifest.Logs, cluster: Cluster) -> Logs | None:
    if not cluster.with_role("log-collector"):
        return None
    search = section.search
    return copied(
        Logs,
        section,
        port_at=stated_at(section, "logs", "port"),
        retention_days=_days(section.retention),
        tls=copied(LogTls, section.tls) if section.tls else None,
        search=copied(
            LogSearch,
            search,
            servers=tuple(url.rstrip("/") for url in search.servers),
            retention_days=_days(search.retention),
            sender=cluster.hosts("log-collector")[0],
        )
        if search
        else None,
    )


def _days(retention: Duration) -> int | None:
    return None if retention.seconds is None else -(-retention.seconds // 86400)


RECORDS = {Logs: resolve}
