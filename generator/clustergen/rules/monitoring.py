"""Monitoring and alerts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from clustergen.catalogue.dcgm import LAST, dcgm_name_known, dcgm_names
from clustergen.catalogue.versions import DcgmVersion, Release
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of

_OWN_JOBS = ("alertmanager", "dcgm", "node", "node-ipmi", "prometheus", "snmp")  # and slurm…, probe-…
_AUTHS = "0.23"  # the first snmp_exporter that reads credentials apart from modules
_MAIL = {"smtp": "smtp: mail.example.org:25", "mail_from": "mail_from: cluster@example.org"}
_URL_FILE = Release("0.26")  # the first Alertmanager that reads a webhook's URL from a file


def has_bmcs(cluster: Cluster) -> tuple[NodeGroup, ...]:
    """Entries of the manifest whose nodes have a BMC with an address."""
    return tuple(group for group in cluster.groups if group.bmc and not group.is_dynamic)


def dcgm_field_unknown(cluster: Cluster) -> Iterator[Finding]:
    spec = cluster.manifest.monitoring.dcgm
    version = DcgmVersion(spec.version)
    counter_names = [name for name in dcgm_names() if dcgm_name_known(name, version)] if spec.counters else []
    for index, name in enumerate(spec.counters):
        if not dcgm_name_known(name, version):
            yield Finding(
                "dcgm-field-unknown",
                ("monitoring", "dcgm", "counters", index),
                f"'{name}' is not a field of DCGM {version}, and dcgm-exporter does not start with it",
                did_you_mean(name, counter_names),
            )


def dcgm_release_unknown(cluster: Cluster) -> Iterator[Finding]:
    version = cluster.manifest.monitoring.dcgm.version
    if DcgmVersion(version) > LAST and cluster.gpu_types and cluster.manifest.monitoring.dcgm.enabled is not False:
        yield Finding(
            "dcgm-release-unknown",
            ("monitoring", "dcgm", "version"),
            f"DCGM {version} is newer than {LAST}, the last release in the catalogue: fields may have different"
            " names or units, and alerts on them may not fire",
            f"install DCGM {LAST} or older with the matching dcgm-exporter, and pin both packages",
        )


def receivers(cluster: Cluster) -> Iterator[Finding]:
    spec = cluster.manifest.monitoring
    for name, receiver in spec.receivers.items():
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
        lacking = [field for field in ("smtp", "mail_from") if not getattr(spec, field)]
        if receiver.email and lacking:
            yield Finding(
                "mail-server-missing",
                (*path, "email"),
                f"Alertmanager cannot send mail without {' and '.join('monitoring.' + field for field in lacking)}",
                f"add {' and '.join(_MAIL[field] for field in lacking)} to monitoring, or use a webhook",
            )


def alertmanager_too_old(cluster: Cluster) -> Iterator[Finding]:
    systems = {group.type.os.id: group.type.os for group in cluster.with_role("monitoring")}
    old = [os for os in systems.values() if Release(os.fact("alertmanager")) < _URL_FILE]
    for name, receiver in cluster.manifest.monitoring.receivers.items():
        if receiver.webhook_url_file and old:
            yield Finding(
                "alertmanager-too-old",
                ("monitoring", "receivers", name, "webhook_url_file"),
                f"webhook_url_file requires Alertmanager {_URL_FILE} or newer; {old[0].id} has"
                f" {old[0].fact('alertmanager')}",
                "use webhook with a URL that holds no secret, or a newer operating system on the monitoring node",
            )


def nobody_told(cluster: Cluster) -> Iterator[Finding]:
    """Settings of a monitoring that nothing runs."""
    spec = cluster.manifest.monitoring
    if not spec.enabled or not cluster.hosts("monitoring"):
        why = "monitoring.enabled is false" if not spec.enabled else "no node has the role monitoring"
        for field in type(spec).model_fields:
            if field in spec.model_fields_set and field != "dcgm" and getattr(spec, field):
                yield Finding(
                    "monitoring-missing",
                    ("monitoring", field),
                    f"{field} has no effect: {why}, so Prometheus does not run",
                    "add the role monitoring to a node" if spec.enabled else None,
                    key=True,
                )
    elif spec.receivers and not spec.alertmanager:
        yield Finding(
            "receivers-unused",
            ("monitoring", "receivers"),
            "receivers have no effect: monitoring.alertmanager is false, so no alert is sent",
            "remove alertmanager: false",
            key=True,
        )


def thresholds_order(cluster: Cluster) -> Iterator[Finding]:
    spec = cluster.manifest.monitoring.thresholds
    if spec.gpu_hot and spec.gpu_very_hot and spec.gpu_very_hot <= spec.gpu_hot:
        yield Finding(
            "thresholds-order",
            ("monitoring", "thresholds", "gpu_very_hot"),
            f"the critical threshold {spec.gpu_very_hot} °C (gpu_very_hot) is not above the warning threshold"
            f" {spec.gpu_hot} °C (gpu_hot)",
        )


def retention(cluster: Cluster) -> Iterator[Finding]:
    spec = cluster.manifest.monitoring
    if spec.retention.seconds == 0 and not spec.retention_size:
        yield Finding(
            "value-out-of-range",
            ("monitoring", "retention"),
            "Prometheus ignores a retention of 0 and keeps samples for 15 days",
            "write 15d, or set retention_size",
        )


def scrape_job_clash(cluster: Cluster) -> Iterator[Finding]:
    for name in cluster.manifest.monitoring.targets:
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
    spec = cluster.manifest.monitoring
    servers = cluster.with_role("monitoring")
    groups = {"ipmi": has_bmcs(cluster) if spec.ipmi else (), "blackbox": servers, "snmp": servers}
    for name, members in groups.items():
        lacking = {group.type.os.id for group in members if not group.type.os.packages(f"{name}_exporter")}
        if lacking and getattr(spec, name):
            yield Finding(
                "exporter-not-packaged",
                ("monitoring", name),
                f"{' and '.join(sorted(lacking))} has no package of {name}_exporter"
                + (f" {_AUTHS} or newer" if name == "snmp" else ""),
                "remove the section, and add exporters that you install yourself to monitoring.targets",
                key=True,
            )


def exporter_without_bmc(cluster: Cluster) -> Iterator[Finding]:
    if cluster.manifest.monitoring.ipmi and not has_bmcs(cluster):
        yield Finding(
            "exporter-without-bmc",
            ("monitoring", "ipmi"),
            "ipmi has no effect: no node has a BMC address",
            "set addresses: {bmc: …} of the nodes",
            key=True,
        )


def devices(cluster: Cluster) -> Iterator[Finding]:
    spec = cluster.manifest.monitoring.snmp
    racks, hosts = {rack.name: rack for rack in cluster.racks}, set(cluster.hosts())
    for name, device in spec.devices.items() if spec else ():
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


def dates(cluster: Cluster) -> Iterator[Finding]:
    for name, day in cluster.manifest.monitoring.expires.items():
        try:
            date.fromisoformat(day)
        except ValueError:
            yield Finding(
                "value-out-of-range",
                ("monitoring", "expires", name),
                f"{day} is not a day of the calendar",
                "write year, month and day, as 2027-03-31",
            )
