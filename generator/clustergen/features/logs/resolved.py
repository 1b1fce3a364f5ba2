"""Central logs as resolved."""

from __future__ import annotations

from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster
from clustergen.features.logs import section as manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import copied, record
from clustergen.units import Bytes

TEXTFILE = "logs.prom"
"""With metrics of the store, for the node exporter."""


@record
class LogTls:
    """PEM files on every node."""

    ca: str
    certificate: str
    key: str


@record
class Logs(Listener):
    """Central logs of all nodes. `retention_days`: None without a limit; sizes are per collector and per node."""

    retention_days: int | None
    retention_size: Bytes
    queue_size: Bytes
    tls: LogTls | None


def resolve(section: manifest.Logs, cluster: Cluster) -> Logs | None:
    if not cluster.with_role("log-collector"):
        return None
    seconds = section.retention.seconds
    return copied(
        Logs,
        section,
        port_at=stated_at(section, "logs", "port"),
        retention_days=None if seconds is None else -(-seconds // 86400),
        tls=copied(LogTls, section.tls) if section.tls else None,
    )


RECORDS = {Logs: resolve}
