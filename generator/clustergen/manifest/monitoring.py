"""Monitoring: whether Prometheus runs, and how often it reads; all else is of features."""

from typing import Annotated

from pydantic import Field

from clustergen.manifest.base import Section, field, section
from clustergen.manifest.composition import Place, composed
from clustergen.units import Bare


@composed("monitoring.thresholds")
class Thresholds(Section):
    """Thresholds of alerts."""

    gpu_hot: Place
    gpu_very_hot: Place
    disk_free: Annotated[int, Field(ge=1, le=50)] = field(10, "Percent free of a local file system.")
    node_down: Place
    throttled: Place
    air_inlet: Place
    fan_speed: Place


@composed("monitoring")
class Monitoring(Section):
    """Prometheus, its exporters and alerts."""

    enabled: bool = field(True, "Whether to run monitoring; requires a node with the role monitoring.")
    scrape_interval: Annotated[int, Field(ge=5, le=300), Bare("second")] = field(15, "Time between two scrapes.")
    retention: Place
    retention_size: Place
    port: Place
    alertmanager: Place
    alertmanager_port: Place
    smtp: Place
    smtp_require_tls: Place
    mail_from: Place
    receivers: Place
    thresholds: Thresholds = section(Thresholds, "Thresholds of alerts.")
    dcgm: Place
    node_exporter: Place
    grafana: Place
    ipmi: Place
    smart: Place
    blackbox: Place
    snmp: Place
    remote_write: Place
    targets: Place
    expires: Place
    labels: Place
