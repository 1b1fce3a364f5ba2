"""Monitoring and alerts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from clustergen.catalogue.dcgm import LAST, dcgm_name_known, dcgm_names
from clustergen.catalogue.versions import DcgmVersion, Release
from clustergen.cluster import dcgm as ground_dcgm
from clustergen.cluster import monitoring as ground
from clustergen.cluster.features import monitoring
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import bmc_groups
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.manifest.monitoring import Dcgm, Monitoring, Snmp

_OWN_JOBS = ("alertmanager", "dcgm", "node", "node-ipmi", "prometheus", "snmp")  # and slurm…, probe-…
_AUTHS = "0.23"  # the first snmp_exporter that reads credentials apart from modules
_MAIL = {"smtp": "smtp: mail.example.org:25", "mail_from": "mail_from: cluster@example.org"}
_URL_FILE = Release("0.26")  # the first Alertmanager that reads a webhook's URL from a file


def dcgm_field_unknown(_: Cluster, section: Dcgm) -> Iterator[Finding]:
    version = DcgmVersion(section.version)
    counter_names = [name for name in dcgm_names() if dcgm_name_known(name, version)] if section.counters else []
    for index, name in enumerate(section.counters):
        if not dcgm_name_known(name, version):
            yield Finding(
                "dcgm-field-unknown",
                ("monitoring", "dcgm", "counters", index),
                f"'{name}' is not a field of DCGM {version}, and dcgm-exporter does not start with it",
                did_you_mean(name, counter_names),
            )


def dcgm_release_unknown(cluster: Cluster) -> Iterator[Finding]:
    dcgm = cluster.of(ground_dcgm.Dcgm) if cluster.has(ground_dcgm.Dcgm) else None
    if dcgm and dcgm.node_types and dcgm.version > LAST:
        yield Finding(
            "dcgm-release-unknown",
            ("monitoring", "dcgm", "version"),
            f"DCGM {dcgm.version} is newer than {LAST}, the last release in the catalogue: fields may have different"
            " names or units, and alerts on them may not fire",
            f"install DCGM {LAST} or older with the matching dcgm-exporter, and pin both packages",
        )


def receivers(_: Cluster, section: Monitoring) -> Iterator[Finding]:
    for name, receiver in section.receivers.items():
        path: ManifestPath = ("monitoring", "receivers", name)
        ways = (receiver.email, receiver.webhook, receiver.webhook_url_file, receiver.slack_url_file)
        if receiver.slack_channel and not receiver.slack_url_file:
            yield Finding(
                "receiver-empty",
                (*path, "slack_channel"),
                "slack_channel has no effect without slack_url_file, the file with Slack's webhook URL",
                "set slack_url_file to a file on the monitoring node that holds the URL",
            )
        elif not any(ways):
            yield Finding(
                "receiver-empty",
                path,
                f"receiver '{name}' has no email address, webhook or Slack channel",
                "set email, webhook, webhook_url_file or slack_url_file",
                key=True,
            )
        if receiver.webhook and receiver.webhook_url_file:
            yield Finding(
                "receiver-twice",
                (*path, "webhook_url_file"),
                f"receiver '{name}' sets its webhook URL twice: webhook and webhook_url_file",
                "remove one of them; keep webhook_url_file if the URL contains a secret",
                key=True,
            )
        lacking = [field for field in ("smtp", "mail_from") if not getattr(section, field)]
        if receiver.email and lacking:
            yield Finding(
                "mail-server-missing",
                (*path, "email"),
                f"Alertmanager cannot send mail without {' and '.join('monitoring.' + field for field in lacking)}",
                f"add {' and '.join(_MAIL[field] for field in lacking)} to monitoring, or use a webhook",
            )


def alertmanager_too_old(cluster: Cluster) -> Iterator[Finding]:
    if not cluster.has(monitoring.Alertmanager):
        return
    systems = {group.type.os.id: group.type.os for group in cluster.with_role("monitoring")}
    old = [os for os in systems.values() if Release(os.fact("alertmanager")) < _URL_FILE]
    for name, receiver in cluster.of(monitoring.Alertmanager).receivers.items():
        if receiver.webhook_url_file and old:
            yield Finding(
                "alertmanager-too-old",
                ("monitoring", "receivers", name, "webhook_url_file"),
                f"webhook_url_file requires Alertmanager {_URL_FILE} or newer; {old[0].id} has"
                f" {old[0].fact('alertmanager')}",
                "use webhook with a URL that holds no secret, or a newer operating system on the monitoring node",
            )


def nobody_told(cluster: Cluster, section: Monitoring) -> Iterator[Finding]:
    """Settings of a monitoring that nothing runs."""
    if not cluster.has(ground.Monitoring):
        why = "monitoring.enabled is false" if not section.enabled else "no node has the role monitoring"
        for field in type(section).model_fields:
            if field in section.model_fields_set and field != "dcgm" and getattr(section, field):
                yield Finding(
                    "monitoring-missing",
                    ("monitoring", field),
                    f"{field} has no effect: {why}, so Prometheus does not run",
                    "add the role monitoring to a node" if section.enabled else None,
                    key=True,
                )
    elif section.receivers and not section.alertmanager:
        yield Finding(
            "receivers-unused",
            ("monitoring", "receivers"),
            "receivers have no effect: monitoring.alertmanager is false, so no alert is sent",
            "remove alertmanager: false",
            key=True,
        )


def thresholds_order(cluster: Cluster) -> Iterator[Finding]:
    hot, very_hot = cluster.of(ground.Thresholds).gpu_hot_c, cluster.of(ground.Thresholds).gpu_very_hot_c
    if hot and very_hot and very_hot <= hot:
        yield Finding(
            "thresholds-order",
            ("monitoring", "thresholds", "gpu_very_hot"),
            f"the critical threshold {very_hot} °C (gpu_very_hot) is not above the warning threshold"
            f" {hot} °C (gpu_hot)",
        )


def retention(_: Cluster, section: Monitoring) -> Iterator[Finding]:
    if section.retention.seconds == 0 and not section.retention_size:
        yield Finding(
            "value-out-of-range",
            ("monitoring", "retention"),
            "Prometheus ignores a retention of 0 and keeps samples for 15 days",
            "write 15d, or set retention_size",
        )


def scrape_job_clash(_: Cluster, section: Monitoring) -> Iterator[Finding]:
    for name in section.targets:
        if name in _OWN_JOBS or name.startswith(("slurm", "probe-")):
            yield Finding(
                "scrape-job-clash",
                ("monitoring", "targets", name),
                f"scrape job '{name}' already exists for the exporters of this cluster",
                "rename this scrape job",
                key=True,
            )


def exporter_not_packaged(cluster: Cluster) -> Iterator[Finding]:
    """Exporters that the distribution of their nodes does not package."""
    servers = cluster.with_role("monitoring")
    for name, exporter, members in (
        ("ipmi", monitoring.Ipmi, bmc_groups(cluster)),
        ("blackbox", monitoring.Blackbox, servers),
        ("snmp", monitoring.Snmp, servers),
    ):
        lacking = {group.type.os.id for group in members if not group.type.os.packages(f"{name}_exporter")}
        if lacking and cluster.has(exporter):
            yield Finding(
                "exporter-not-packaged",
                ("monitoring", name),
                f"{' and '.join(sorted(lacking))} has no package of {name}_exporter"
                + (f" {_AUTHS} or newer" if name == "snmp" else ""),
                "remove the section, and add exporters that you install yourself to monitoring.targets",
                key=True,
            )


def exporter_without_bmc(cluster: Cluster, section: Monitoring) -> Iterator[Finding]:
    if section.ipmi and not bmc_groups(cluster):
        yield Finding(
            "exporter-without-bmc",
            ("monitoring", "ipmi"),
            "ipmi has no effect: no node has a BMC address",
            "set addresses: {bmc: …} of the nodes",
            key=True,
        )


def devices(cluster: Cluster, section: Snmp) -> Iterator[Finding]:
    racks, hosts = {rack.name: rack for rack in cluster.racks}, set(cluster.hosts())
    for name, device in section.devices.items():
        path: ManifestPath = ("monitoring", "snmp", "devices", name)
        if device.rack is not None and device.rack not in racks:
            yield Finding(
                "rack-unknown",
                (*path, "rack"),
                f"rack '{device.rack}' is not defined",
                did_you_mean(device.rack, racks) or (f"use {one_of(racks)}" if racks else "define it under racks"),
            )
        if name in hosts:
            yield Finding("host-duplicate", path, f"'{name}' is a node of the cluster", key=True)


def dates(_: Cluster, section: Monitoring) -> Iterator[Finding]:
    for name, day in section.expires.items():
        try:
            date.fromisoformat(day)
        except ValueError:
            yield Finding(
                "value-out-of-range",
                ("monitoring", "expires", name),
                f"{day} is not a day of the calendar",
                "write year, month and day, as 2027-03-31",
            )
