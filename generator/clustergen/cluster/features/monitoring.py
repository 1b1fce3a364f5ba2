"""Monitoring as resolved: what runs on which nodes, how often it reads, and where alerts go.

A record is absent where nothing of the kind runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.catalogue.versions import DcgmVersion
from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster, NodeGroup, NodeType, once_per_cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.manifest.model import Manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import copied, record
from clustergen.units import Bytes, Duration

_PATH = ("monitoring",)


@record
class Dcgm(Listener):
    """DCGM of a cluster with GPUs. `node_types`: those whose GPUs it manages; `exports`: their nodes run the exporter.

    `job_map`: where the prolog records which job has which GPU.
    """

    node_types: tuple[str, ...]
    exports: bool
    version: DcgmVersion
    interval_ms: int
    profiling: bool
    counters: tuple[str, ...]
    job_map: str
    job_label_limit: int


@record
class Scraping:
    """Seconds between two scrapes; `slowest_s`: between two samples of the exporter that samples least often."""

    interval_s: int
    slowest_s: int


@record
class Thresholds:
    """Thresholds of alerts. °C are None where each GPU model has its own; `throttled`: share of time."""

    gpu_hot_c: int | None
    gpu_very_hot_c: int | None
    disk_free_percent: int
    node_down_s: int
    throttled: float


@record
class Prometheus(Listener):
    """Prometheus, the labels of this cluster, and the site's own targets by job."""

    labels: Mapping[str, str]
    targets: Mapping[str, tuple[str, ...]]


@record
class Samples:
    """How long Prometheus keeps samples, at most how many bytes, and who else receives them."""

    retention: Duration
    retention_size: Bytes | None
    remote_write: tuple[str, ...]


@record
class Receiver:
    """A receiver of alerts of these severities; files are on the monitoring nodes."""

    severities: tuple[str, ...]
    email: str | None
    webhook: str | None
    webhook_url_file: str | None
    slack_url_file: str | None
    slack_channel: str | None


@record
class Alertmanager(Listener):
    """Alertmanager; `smtp` is None where no receiver has an email address."""

    smtp: str | None
    smtp_require_tls: bool
    mail_from: str | None
    receivers: Mapping[str, Receiver]


@record
class Tls:
    """Files on the node."""

    certificate: str
    key: str


@record
class Grafana(Listener):
    """Grafana. `url`: of a reverse proxy; `address`: where browsers reach it, without a slash at its end."""

    url: str | None
    address: str
    tls: Tls | None


@record
class Ipmi(Listener):
    """The IPMI exporter of nodes that have a BMC."""

    interval_s: int


@record
class Blackbox(Listener):
    """The blackbox exporter; `bmc`: there are BMCs to probe."""

    interval_s: int
    ssh: bool
    bmc: bool
    web: tuple[str, ...]


@record
class SnmpDevice:
    """A device that answers SNMP; `auth`: name of its credentials."""

    address: str
    module: str
    auth: str
    rack: str | None


@record
class Snmp(Listener):
    """The SNMP exporter, and its devices by name."""

    interval_s: int
    devices: Mapping[str, SnmpDevice]


@record
class Expiry:
    """Last days of licences and contracts, as 2027-03-31."""

    dates: Mapping[str, str]


def static(groups: tuple[NodeGroup, ...]) -> tuple[NodeGroup, ...]:
    """Without nodes of a cloud and of the future: while they are down, an alert for each would be false."""
    return tuple(group for group in groups if not group.is_dynamic)


def bmc_groups(cluster: Cluster) -> tuple[NodeGroup, ...]:
    """Entries of the manifest whose nodes have a BMC with an address."""
    return tuple(group for group in static(cluster.groups) if group.bmc)


@once_per_cluster
def dcgm_types(cluster: Cluster) -> dict[str, NodeType]:
    """Node types whose GPUs DCGM manages, by name."""
    names = frozenset(cluster.of(Dcgm).node_types if cluster.has(Dcgm) else ())
    return {node_type.name: node_type for node_type in cluster.gpu_types if node_type.name in names}


def resolve_dcgm(manifest: Manifest, cluster: Cluster) -> Dcgm | None:
    """By default it manages all GPUs but GeForce, of which it reports little."""
    section = manifest.monitoring.dcgm
    if not cluster.gpu_types:
        return None
    is_wanted = section.enabled
    return copied(
        Dcgm,
        section,
        node_types=tuple(
            kind.name
            for kind in cluster.gpu_types
            if is_wanted or (is_wanted is None and kind.gpus and not kind.gpus.model.is_geforce)
        ),
        exports=bool(is_wanted) or (is_wanted is None and cluster.has(Monitoring)),
        version=DcgmVersion(section.version),
        port_at=stated_at(section, *_PATH, "dcgm", "port"),
        interval_ms=section.interval,
    )


def resolve_scraping(manifest: Manifest, cluster: Cluster) -> Scraping:
    interval_s = manifest.monitoring.scrape_interval
    slowest_ms = cluster.of(Dcgm).interval_ms if cluster.has(Dcgm) else 0
    return Scraping(interval_s, max(interval_s, -(-slowest_ms // 1000)))


def resolve_thresholds(manifest: Manifest, _: Cluster) -> Thresholds:
    section = manifest.monitoring.thresholds
    return Thresholds(section.gpu_hot, section.gpu_very_hot, section.disk_free, section.node_down, section.throttled)


def resolve_prometheus(manifest: Manifest, cluster: Cluster) -> Prometheus | None:
    section = manifest.monitoring
    if not cluster.has(Monitoring):
        return None
    labels = {"cluster": cluster.name} | section.labels
    return copied(Prometheus, section, port_at=stated_at(section, *_PATH, "port"), labels=labels)


def resolve_samples(manifest: Manifest, cluster: Cluster) -> Samples | None:
    return copied(Samples, manifest.monitoring) if cluster.has(Monitoring) else None


def resolve_alertmanager(manifest: Manifest, cluster: Cluster) -> Alertmanager | None:
    """A mail server on the same host mostly offers no TLS, and needs none."""
    section = manifest.monitoring
    if not cluster.has(Monitoring) or not section.alertmanager:
        return None
    sends_mail = any(receiver.email for receiver in section.receivers.values())
    is_local = (section.smtp or "").startswith(("localhost:", "127.", "[::1]:"))
    return copied(
        Alertmanager,
        section,
        port=section.alertmanager_port,
        port_at=stated_at(section, *_PATH, "alertmanager_port"),
        smtp=section.smtp if sends_mail else None,
        smtp_require_tls=not is_local if section.smtp_require_tls is None else section.smtp_require_tls,
        receivers={name: copied(Receiver, receiver) for name, receiver in section.receivers.items()},
    )


def resolve_grafana(manifest: Manifest, cluster: Cluster) -> Grafana | None:
    section = manifest.monitoring.grafana
    if not cluster.has(Monitoring) or section is None or not section.enabled:
        return None
    scheme = "https" if section.tls else "http"
    address = section.url or f"{scheme}://{cluster.of(Monitoring).hosts[0]}:{section.port}"
    return copied(
        Grafana,
        section,
        port_at=stated_at(section, *_PATH, "grafana", "port"),
        address=address.rstrip("/"),
        tls=copied(Tls, section.tls) if section.tls else None,
    )


def resolve_ipmi(manifest: Manifest, cluster: Cluster) -> Ipmi | None:
    section = manifest.monitoring.ipmi
    if not cluster.has(Monitoring) or section is None or not bmc_groups(cluster):
        return None
    return Ipmi(section.port, stated_at(section, *_PATH, "ipmi", "port"), _interval_s(cluster, section.interval))


def resolve_blackbox(manifest: Manifest, cluster: Cluster) -> Blackbox | None:
    section = manifest.monitoring.blackbox
    if not cluster.has(Monitoring) or section is None:
        return None
    return copied(
        Blackbox,
        section,
        port_at=stated_at(section, *_PATH, "blackbox", "port"),
        interval_s=_interval_s(cluster, section.interval),
        bmc=section.bmc and bool(bmc_groups(cluster)),
    )


def resolve_snmp(manifest: Manifest, cluster: Cluster) -> Snmp | None:
    section = manifest.monitoring.snmp
    if not cluster.has(Monitoring) or section is None:
        return None
    return Snmp(
        section.port,
        stated_at(section, *_PATH, "snmp", "port"),
        _interval_s(cluster, section.interval),
        {name: copied(SnmpDevice, device) for name, device in section.devices.items()},
    )


def resolve_expiry(manifest: Manifest, cluster: Cluster) -> Expiry | None:
    dates = manifest.monitoring.expires
    return Expiry(dates) if dates and cluster.has(Monitoring) else None


def _interval_s(cluster: Cluster, stated_s: int) -> int:
    return max(stated_s, cluster.of(Scraping).interval_s)
