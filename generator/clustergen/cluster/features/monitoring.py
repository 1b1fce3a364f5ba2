"""Monitoring as resolved: what runs on which nodes, how often it reads, and where alerts go.

A record is absent where nothing of the kind runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring, Scraping, bmc_groups
from clustergen.manifest.model import Manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import copied, record
from clustergen.units import Bytes, Duration

_PATH = ("monitoring",)

GRAFANA_PASSWORD = "/etc/grafana/admin-password"
SNMP_AUTHS = "/etc/prometheus-exporters/snmp-auths.yml"


@record
class Samples:
    """How long Prometheus keeps samples, at most how many bytes, and who else receives them."""

    SECTIONS = ("Monitoring",)
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
    """Alertmanager."""

    SECTIONS = ("Monitoring",)
    port: int  # TCP
    smtp: str | None  # None where no receiver has an email address
    smtp_require_tls: bool
    mail_from: str | None
    receivers: Mapping[str, Receiver]


@record
class Tls:
    """Files on the node."""

    SECTIONS = ("GrafanaTls",)
    certificate: str
    key: str


@record
class Grafana(Listener):
    """Grafana."""

    url: str | None  # of a reverse proxy
    address: str  # where browsers reach it, without a slash at its end
    tls: Tls | None


@record
class Ipmi(Listener):
    """The IPMI exporter of nodes that have a BMC."""

    interval_s: int


@record
class Blackbox(Listener):
    """The blackbox exporter."""

    interval_s: int
    ssh: bool
    bmc: bool  # there are BMCs to probe
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
    """Licences and contracts."""

    dates: Mapping[str, str]  # last day by name, as 2027-03-31


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
