"""Monitoring, health checks, host settings and Ansible."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import (
    NOT_EMPTY,
    AbsolutePath,
    Domain,
    Endpoint,
    HostName,
    HostPort,
    Name,
    OneLine,
    Phrase,
    PortNumber,
    Section,
    Url,
    field,
    section,
    text,
)
from clustergen.manifest.base import Host as HostOrAddress
from clustergen.manifest.pull import Pull
from clustergen.units import Bare, Bytes, Duration

Celsius = Annotated[int, Field(ge=40, le=110)]
KernelValue = Annotated[
    str, text(r"^[A-Za-z0-9_./:,-]+( +[A-Za-z0-9_./:,-]+)*$", "use letters, digits, blanks and _ . / : , -", 500)
]
MetricName = Annotated[str, text(r"^DCGM_[A-Z0-9_]+$", "write the name of a DCGM field: DCGM_FI_DEV_GPU_TEMP", 100)]

SnmpWord = Annotated[str, text(r"^[A-Za-z][A-Za-z0-9_]*$", "use letters, digits and _, and begin with a letter", 63)]


class Dcgm(Section):
    """DCGM and dcgm-exporter."""

    enabled: bool | None = field(None, "Default: on nodes with data-centre or workstation GPUs.")
    version: Annotated[str, text(r"^[34]\.[0-9]+$", 'write major and minor release: "4.5"')] = field(
        "4.5", "Release of DCGM."
    )
    port: PortNumber = field(9400, "Port of the exporter.")
    interval: Annotated[int, Field(ge=1000, le=600000), Bare("millisecond")] = field(15000, "Time between samples.")
    profiling: bool = field(
        True, "Profiling counters: tensor and DRAM activity. Turn off if users profile their own jobs."
    )
    counters: tuple[MetricName, ...] = field((), "More fields to export.")
    job_map: AbsolutePath = field(
        "/run/dcgm-job-mapping", "Directory in which the prolog records which job uses which GPU."
    )
    job_label_limit: Annotated[int, Field(ge=0, le=1_000_000)] = field(
        1024, "GPUs of the cluster up to which samples carry the job's ID as a label; above, one series per GPU does."
    )


class NodeExporter(Section):
    """node_exporter."""

    enabled: bool = field(True, "On all nodes.")
    port: PortNumber = field(9100, "Port.")
    collectors: tuple[Annotated[str, text(r"^[a-z_]+$", "use lower-case letters and _, as systemd")], ...] = field(
        (), "More collectors."
    )


class Ipmi(Section):
    """ipmi_exporter on nodes with a BMC: it asks the BMC through the node's own interface, without a password."""

    port: PortNumber = field(9290, "Port.")
    interval: Annotated[int, Field(ge=15, le=3600), Bare("second")] = field(60, "Time between two scrapes.")


class Blackbox(Section):
    """blackbox_exporter on the monitoring nodes."""

    port: PortNumber = field(9115, "Port.")
    interval: Annotated[int, Field(ge=15, le=3600), Bare("second")] = field(60, "Time between two probes.")
    ssh: bool = field(True, "Probe sshd of all nodes.")
    bmc: bool = field(True, "Probe the web pages of BMCs, by the names of /etc/hosts: host-bmc.")
    web: tuple[Url, ...] = field((), "Web pages to probe.")


class SnmpDevice(Section):
    """A PDU, a UPS or another device that answers SNMP."""

    address: HostOrAddress = field(..., "Host name or IP address.")
    module: SnmpWord = field(..., "What is read: ups_mib, apc_rpdu2, or a module in a site file `snmp-NAME.yml`.")
    auth: SnmpWord = field(..., "Name of its credentials in the secret `snmp`.")
    rack: Name | None = field(None, "Rack that it feeds, a label of its metrics.")


class Snmp(Section):
    """snmp_exporter on the monitoring nodes, for PDUs and UPS. Credentials are the secret `snmp`."""

    port: PortNumber = field(9116, "Port.")
    interval: Annotated[int, Field(ge=15, le=3600), Bare("second")] = field(60, "Time between two scrapes.")
    devices: dict[HostName, SnmpDevice] = field(..., "Devices by name: the label `instance`.", min_length=1)


class Receiver(Section):
    """A receiver of alerts. Secrets (tokens, passwords) are files on the monitoring node, installed at apply time."""

    email: (
        Annotated[str, text(r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$", "write one plain address, as ops@example.org", 254)]
        | None
    ) = field(None, "Address.")
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


class GrafanaTls(Section):
    """Certificate of Grafana's own HTTPS."""

    certificate: AbsolutePath = field(..., "File on the monitoring node: the certificate and its chain.")
    key: AbsolutePath = field(..., "File on the monitoring node: the private key, readable by the user grafana.")


class Grafana(Section):
    """Grafana with dashboards of this cluster. The administrator's password is the secret `grafana`."""

    enabled: bool = field(True, "Whether to install Grafana, from Grafana Labs' package repository.")
    port: PortNumber = field(3000, "Port.")
    url: Url | None = field(
        None, "URL under which browsers reach Grafana, as behind a reverse proxy; default: the host name and port."
    )
    tls: Annotated[GrafanaTls | None, NOT_EMPTY] = field(
        None, "HTTPS by Grafana itself; default: HTTP, for a reverse proxy or an ssh tunnel."
    )


class Monitoring(Section):
    """Prometheus, its exporters and alerts."""

    enabled: bool = field(True, "Whether to run monitoring; requires a node with the role monitoring.")
    scrape_interval: Annotated[int, Field(ge=5, le=300), Bare("second")] = field(15, "Time between two scrapes.")
    retention: Duration = field("30d", "Retention time of samples.", validate_default=True)
    retention_size: Bytes | None = field(None, "Maximum size of all samples.")
    port: PortNumber = field(9090, "Port of Prometheus.")
    alertmanager: bool = field(True, "Alertmanager beside Prometheus.")
    alertmanager_port: PortNumber = field(9093, "Port of Alertmanager.")
    smtp: HostPort | None = field(None, "Mail server, host:port.")
    smtp_require_tls: bool | None = field(
        None, "Send mail only over STARTTLS; default true, and false if the mail server is the local host."
    )
    mail_from: (
        Annotated[str, text(r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$", "write one plain address, as ops@example.org")]
        | None
    ) = field(None, "Sender of alert mails.")
    receivers: dict[
        Annotated[str, text(r"^[a-z][a-z0-9_-]*$", "use lower-case letters, digits, _ and -, and begin with a letter")],
        Receiver,
    ] = field({}, "Receivers of alerts.")
    thresholds: Thresholds = section(Thresholds, "Thresholds of alerts.")
    dcgm: Dcgm = section(Dcgm, "GPU metrics.")
    node_exporter: NodeExporter = section(NodeExporter, "Host metrics.")
    grafana: Annotated[Grafana | None, NOT_EMPTY] = field(None, "Grafana with dashboards; default: not installed.")
    ipmi: Annotated[Ipmi | None, NOT_EMPTY] = field(None, "Sensors of the BMCs: power supplies, fans, temperatures.")
    smart: bool = field(False, "Health of local disks on all nodes, read by smartctl every 15 minutes.")
    blackbox: Annotated[Blackbox | None, NOT_EMPTY] = field(None, "Probes of sshd, BMCs and web pages from outside.")
    snmp: Annotated[Snmp | None, NOT_EMPTY] = field(None, "PDUs and UPS, read by SNMP.")
    remote_write: tuple[Url, ...] = field((), "Remote stores that receive all samples.")
    targets: dict[
        Annotated[str, text(r"^[a-z][a-z0-9_-]*$", "use lower-case letters, digits, _ and -, and begin with a letter")],
        tuple[Endpoint, ...],
    ] = field({}, "More jobs: {ipmi: [bmc1:9290]}.")
    expires: dict[
        Annotated[str, text(r"^[A-Za-z0-9][A-Za-z0-9 ._/()+-]*$", "use letters, digits, blanks and . _ / ( ) + -", 80)],
        Annotated[str, text(r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$", "write the date as 2027-03-31")],
    ] = field({}, "Last days of licences and contracts, to alert before: {NVIDIA AI Enterprise: 2027-03-31}.")
    labels: dict[
        Annotated[str, text(r"^[a-zA-Z_][a-zA-Z0-9_]*$", "use letters, digits and _, and begin with a letter")], Phrase
    ] = field({}, "External labels.")

    @property
    def active_grafana(self) -> Grafana | None:
        """The settings of Grafana, unless it is left out or disabled."""
        return self.grafana if self.grafana is not None and self.grafana.enabled else None


class Health(Section):
    """The health check that slurmd runs: it drains nodes with a reason, and resumes only nodes that it drained."""

    enabled: bool = field(True, "Whether to run the health check.")
    interval: Annotated[int, Field(ge=30, le=65533), Bare("second")] = field(300, "Time between two checks.")
    states: tuple[Literal["ANY", "ALLOC", "CYCLE", "IDLE", "NONDRAINED_IDLE", "MIXED", "START_ONLY"], ...] = field(
        ("ANY", "CYCLE"), "Node states in which it runs; CYCLE spreads the nodes over the interval."
    )
    gpu_count: bool = field(True, "Check that all GPUs respond.")
    gpu_settings: bool = field(
        True, "Power limit, highest clock and PCIe width of GPUs reach the floors of acceptance; slowdowns are logged."
    )
    ecc: bool = field(
        True, "The driver requests no recovery, no row remapping failed; before R570: no uncorrected errors."
    )
    nvlink: bool | None = field(None, "All NVLinks are up; default: on nodes with NVLink.")
    fabric: bool = field(True, "Fabric ports are up at full rate.")
    mounts: bool = field(True, "Required file systems are mounted and respond.")
    min_free: Bytes | None = field(None, "Free space of /tmp and the spool directory; default 1 GiB.")
    max_temperature: Celsius | None = field(None, "°C above which an idle GPU drains the node.")
    nhc: bool = field(False, "Render /etc/nhc/clustergen.conf, the same checks for sites that run LBNL NHC.")
    dcgm: Literal["drain", "warn", "off"] | None = field(
        None, "Faults that DCGM's health watches report; default: drain where DCGM runs. warn: to the journal only."
    )


class Drift(Section):
    """A timer on a controller that compares the machines with the manifest."""

    enabled: bool = field(
        False, "Whether the timer runs; requires clustergen, Ansible and ssh access to all nodes there."
    )
    interval: Annotated[int, Field(ge=600, le=604800), Bare("second")] = field(21600, "Time between two comparisons.")
    directory: AbsolutePath = field(
        "/srv/clustergen",
        "Directory on the controller with manifest.yaml and rendered; elsewhere the timer does nothing.",
    )
    programs: AbsolutePath = field(
        "/opt/clustergen/bin", "Directory on the controller with clustergen and ansible-playbook."
    )


class Host(Section):
    """Settings of the operating system on all nodes."""

    timezone: Annotated[
        str,
        text(r"^[A-Za-z]+(/[A-Za-z0-9_+-]+)*$", "write a zone as timedatectl list-timezones shows it: Europe/Berlin"),
    ] = field("Etc/UTC", "Time zone.")
    memlock: Literal["unlimited"] | Bytes = field("unlimited", "Locked memory limit of users; required by RDMA.")
    nofile: Annotated[int, Field(ge=1024, le=1048576)] = field(131072, "Open files limit of users.")
    sysctl: dict[
        Annotated[
            str, text(r"^[a-z][A-Za-z0-9_./*-]*$", "write the name of a kernel setting, as net.core.rmem_max", 100)
        ],
        KernelValue | int,
    ] = field({}, "More kernel settings.")
    hugepages: Annotated[int, Field(ge=0, le=1048576)] = field(0, "Number of 2 MiB huge pages to reserve.")
    hosts_file: bool = field(True, "Render /etc/hosts with all nodes.")
    extra_hosts: dict[
        Annotated[str, text(r"^[0-9a-fA-F.:]+$", "write an IP address, as 10.0.0.11")], tuple[Domain, ...]
    ] = field({}, "More lines of /etc/hosts.")
    chrony: bool = field(True, "Configure chrony.")
    firewall: bool | Literal["nftables"] = field(
        True,
        "true: on systems with firewalld, allow the cluster's networks access to every port of its nodes; nftables: in"
        " addition, on all systems, drop packets to ports that no service of the cluster uses.",
    )
    ssh_adopt: bool = field(
        True, "Users can ssh only to nodes where they have a job, and the session is accounted to that job."
    )
    admin_group: (
        Annotated[
            str, text(r"^[a-z_][a-z0-9_-]*$", "use lower-case letters, digits, _ and -, and begin with a letter", 32)
        ]
        | None
    ) = field(None, "Unix group whose members can ssh to all nodes.")


class Ansible(Section):
    """How to reach the nodes."""

    user: Annotated[
        str, text(r"^[a-z_][a-z0-9_-]*$", "use lower-case letters, digits, _ and -, and begin with a letter", 32)
    ] = field("root", "Login.")
    become: bool | None = field(None, "Use sudo; default: unless the user is root.")
    port: PortNumber = field(22, "ssh port.")
    jump: (
        Annotated[str, text(r"^[A-Za-z0-9_][A-Za-z0-9_.@:-]*$", "write host, user@host or user@host:port", 255)] | None
    ) = field(None, "ssh jump host.")
    forks: Annotated[int, Field(ge=1, le=500)] | None = field(
        None, "Number of parallel hosts; default: by cluster size."
    )
    python: AbsolutePath | None = field(None, "Python interpreter on the nodes; default: Ansible detects it.")
    variables: dict[
        Annotated[str, text(r"^[a-z_][a-z0-9_]*$", "use lower-case letters, digits and _, and begin with a letter")],
        OneLine | int | bool | float,
    ] = field({}, "More group variables, for the site's own roles.")
    pull: Annotated[Pull | None, NOT_EMPTY] = field(
        None, "Compute nodes apply the tree from git themselves; none do unless the section is present."
    )
