"""Central logs: rsyslog of every node forwards to the collectors, which keep a directory per host and day."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import textfile
from clustergen.features.logs.resolved import SEARCH_PASSWORD, SEARCH_TEXTFILE, TEXTFILE, Logs, LogSearch, LogTls
from clustergen.records import copied, record
from clustergen.render.effects import restart
from clustergen.render.file import Context, File
from clustergen.render.timers import timed

UNIT = "rsyslog.service"
STORE = "/var/log/clustergen"
_TOPICS = 5
_MOST_OPEN = 8192  # files; half of what the unit may open


@record
class Target:
    """A collector. `names`: those that its certificate may have."""

    host: str
    names: tuple[str, ...]


@record
class Forward:
    """The settings of every node that sends logs; the collectors among them send to themselves as to any other."""

    collectors: tuple[Target, ...]
    port: int
    spool: str
    queue_mib: int
    tls: LogTls | None


@record
class Collector:
    """The settings of a collector: what it accepts, and where it keeps it."""

    port: int
    store: str
    domain: str  # of the nodes' names, which the directories are without; empty for none
    open_files: int
    tls: LogTls | None
    search: LogSearch | None
    password: str
    spool: str
    queue_mib: int
    collectors: int


@record
class Retention:
    """How long logs stay. `days`: None without a limit; `metrics_file`: for the node exporter, empty for none."""

    days: int | None
    limit_kib: int
    metrics_file: str


@record
class Search:
    """Values of the program that keeps the indexes. `max_bytes`: of documents that were refused."""

    servers: tuple[str, ...]
    index: str
    retention_days: int | None
    user: str | None
    password_file: str | None
    ca: str | None
    sender: str
    spool: str
    max_bytes: int
    metrics_file: str


def forward(cluster: Cluster, os: OperatingSystem, logs: Logs) -> Forward:
    domain = cluster.networks.management.domain
    collectors = tuple(
        Target(host, (host, f"{host}.{domain}") if domain else (host,)) for host in cluster.hosts("log-collector")
    )
    return Forward(collectors, logs.port, os.fact("rsyslog_spool_dir"), logs.queue_size.mib, logs.tls)


def collector(cluster: Cluster, os: OperatingSystem, logs: Logs) -> Collector:
    return copied(
        Collector,
        logs,
        store=STORE,
        domain=cluster.networks.management.domain or "",
        open_files=min(_MOST_OPEN, _TOPICS * max(cluster.host_count, 10)),
        password=SEARCH_PASSWORD,
        spool=os.fact("rsyslog_spool_dir"),
        queue_mib=logs.queue_size.mib,
        collectors=len(cluster.hosts("log-collector")),
    )


def search(cluster: Cluster, os: OperatingSystem, logs: Logs) -> Search | None:
    if (section := logs.search) is None:
        return None
    return copied(
        Search,
        section,
        password_file=SEARCH_PASSWORD if section.user else None,
        spool=os.fact("rsyslog_spool_dir"),
        max_bytes=logs.queue_size.value,
        metrics_file=textfile(cluster, os, SEARCH_TEXTFILE),
    )


def retention(cluster: Cluster, os: OperatingSystem, logs: Logs) -> Retention:
    return Retention(logs.retention_days, logs.retention_size.value >> 10, textfile(cluster, os, TEXTFILE))


def open_files(_cluster: Cluster) -> Context:
    """The limit of open files of a collector's rsyslog."""
    return {"open_files": 2 * _MOST_OPEN}


_SYSTEM = "log_collector/etc/systemd/system"
FILES = (
    File("all/etc/rsyslog.d/60-clustergen-forward.conf", forward, restart(UNIT), per="os"),
    File("log_collector/etc/rsyslog.d/50-clustergen-collector.conf", collector, restart(UNIT), per="os"),
    File(f"{_SYSTEM}/rsyslog.service.d/50-clustergen.conf", open_files, restart(UNIT)),
    *timed("log_collector", "logs/clustergen-log-retention.sh", retention),
    *timed("log_collector", "logs/clustergen-log-search.py", search),
)
