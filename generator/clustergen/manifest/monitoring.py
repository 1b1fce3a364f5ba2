"""Monitoring: exporters, Prometheus, alerts and their receivers, Grafana."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.catalogue.network import ports
from clustergen.manifest.base import (
    AbsolutePath,
    Celsius,
    Endpoint,
    HostPort,
    Name,
    Phrase,
    PortNumber,
    Section,
    Url,
    field,
    section,
    text,
)
from clustergen.manifest.composition import Place, composed
from clustergen.units import Bare, Bytes, Duration

MailAddress = Annotated[
    str, text(r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$", "write one plain address, as ops@example.org", 254)
]


class NodeExporter(Section):
    """node_exporter."""

    enabled: bool = field(True, "On all nodes.")
    port: PortNumber = field(ports()["node-exporter"].port, "Port.")
    collectors: tuple[Annotated[str, text(r"^[a-z_]+$", "use lower-case letters and _, as systemd")], ...] = field(
        (), "More collectors."
    )


class Receiver(Section):
    """A receiver of alerts. Secrets (tokens, passwords) are files on the monitoring node, installed at apply time."""

    email: MailAddress | None = field(None, "Address.")
    webhook: Url | None = field(None, "URL that contains no secret.")
    webhook_url_file: AbsolutePath | None = field(None, "File on the monitoring node that contains the URL.")
    slack_url_file: AbsolutePath | None = field(None, "File on the monitoring node that contains the Slack URL.")
    slack_channel: Annotated[str, text(r"^[#@][A-Za-z0-9_.-]+$", 'write "#channel" or "@user"', 80)] | None = field(
        None, "Slack channel."
    )
    severities: tuple[Literal["critical", "warning"], ...] = field(("critical", "warning"), "Alerts to send.")


class Thresholds(Section):
    """Thresholds of alerts."""

    gpu_hot: Celsius | None = field(
        None, "°C, warning after 5 minutes; default: 5 °C below the limit of the model, or of the GPU itself."
    )
    gpu_very_hot: Celsius | None = field(None, "°C, critical after 1 minute; default: at that limit.")
    disk_free: Annotated[int, Field(ge=1, le=50)] = field(10, "Percent free of a local file system.")
    node_down: Annotated[int, Field(ge=1, le=86400), Bare("second")] = field(300, "Time without response from a node.")
    throttled: Annotated[float, Field(gt=0, le=1)] = field(0.1, "Share of time throttled.")


@composed("monitoring")
class Monitoring(Section):
    """Prometheus, its exporters and alerts."""

    enabled: bool = field(True, "Whether to run monitoring; requires a node with the role monitoring.")
    scrape_interval: Annotated[int, Field(ge=5, le=300), Bare("second")] = field(15, "Time between two scrapes.")
    retention: Duration = field("30d", "Retention time of samples.", validate_default=True)
    retention_size: Bytes | None = field(None, "Maximum size of all samples.")
    port: PortNumber = field(ports()["prometheus"].port, "Port of Prometheus.")
    alertmanager: bool = field(True, "Alertmanager beside Prometheus.")
    alertmanager_port: PortNumber = field(ports()["alertmanager"].port, "Port of Alertmanager.")
    smtp: HostPort | None = field(None, "Mail server, host:port.")
    smtp_require_tls: bool | None = field(
        None, "Send mail only over STARTTLS; default true, and false if the mail server is the local host."
    )
    mail_from: MailAddress | None = field(None, "Sender of alert mails.")
    receivers: dict[Name, Receiver] = field({}, "Receivers of alerts.")
    thresholds: Thresholds = section(Thresholds, "Thresholds of alerts.")
    dcgm: Place
    node_exporter: NodeExporter = section(NodeExporter, "Host metrics.")
    grafana: Place
    ipmi: Place
    smart: bool = field(False, "Health of local disks on all nodes, read by smartctl every 15 minutes.")
    blackbox: Place
    snmp: Place
    remote_write: tuple[Url, ...] = field((), "Remote stores that receive all samples.")
    targets: dict[Name, tuple[Endpoint, ...]] = field({}, "More jobs: {ipmi: [bmc1:9290]}.")
    expires: dict[
        Annotated[str, text(r"^[A-Za-z0-9][A-Za-z0-9 ._/()+-]*$", "use letters, digits, blanks and . _ / ( ) + -", 80)],
        Annotated[str, text(r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$", "write the date as 2027-03-31")],
    ] = field({}, "Last days of licences and contracts, to alert before: {NVIDIA AI Enterprise: 2027-03-31}.")
    labels: dict[
        Annotated[str, text(r"^[a-zA-Z_][a-zA-Z0-9_]*$", "use letters, digits and _, and begin with a letter")], Phrase
    ] = field({}, "External labels.")
