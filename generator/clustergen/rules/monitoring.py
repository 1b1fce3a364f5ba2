"""Monitoring and alerts."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.dcgm import LAST, dcgm_name_known, dcgm_names
from clustergen.catalogue.versions import DcgmVersion, Release
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean

_OWN_JOBS = ("alertmanager", "dcgm", "node", "prometheus")  # and all that begin with slurm
_URL_FILE = Release("0.26")  # the first Alertmanager that reads a webhook's URL from a file


def counters(cluster: Cluster) -> Iterator[Finding]:
    spec = cluster.manifest.monitoring.dcgm
    version = DcgmVersion(spec.version)
    counter_names = [name for name in dcgm_names() if dcgm_name_known(name, version)] if spec.counters else []
    for index, name in enumerate(spec.counters):
        if not dcgm_name_known(name, version):
            yield Finding(
                "dcgm-field-unknown",
                ("monitoring", "dcgm", "counters", index),
                f"DCGM {version} has no field '{name}'; the exporter does not start with it",
                did_you_mean(name, counter_names),
            )


def release(cluster: Cluster) -> Iterator[Finding]:
    version = cluster.manifest.monitoring.dcgm.version
    if DcgmVersion(version) > LAST and cluster.gpu_types and cluster.manifest.monitoring.dcgm.enabled is not False:
        yield Finding(
            "dcgm-release-unknown",
            ("monitoring", "dcgm", "version"),
            f"DCGM {version} is newer than {LAST}, the last release that the catalogue covers: fields may have other"
            " names and units, and alerts on them may not fire",
            f"install DCGM {LAST} or older with the dcgm-exporter of the same release, and pin both packages",
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
                "a channel alone reaches nobody: Slack's address is missing",
                "say slack_url_file, a file on the monitoring node that holds it",
            )
        elif not any(ways):
            yield Finding(
                "receiver-empty",
                path,
                f"nothing says how '{name}' is told",
                "say email, webhook, webhook_url_file or slack_url_file",
                key=True,
            )
        if receiver.webhook and receiver.webhook_url_file:
            yield Finding(
                "receiver-twice",
                (*path, "webhook_url_file"),
                f"the webhook of '{name}' is given twice: here from a file, and by webhook",
                "one of them only; a file where the URL holds a secret",
                key=True,
            )
        lacking = [field for field in ("smtp", "mail_from") if not getattr(spec, field)]
        if receiver.email and lacking:
            yield Finding(
                "mail-server-missing",
                (*path, "email"),
                f"no mail can be sent without {' and '.join('monitoring.' + field for field in lacking)}",
                "say so in monitoring, or use a webhook",
            )


def alertmanager(cluster: Cluster) -> Iterator[Finding]:
    systems = {group.type.os.id: group.type.os for group in cluster.with_role("monitoring")}
    old = [os for os in systems.values() if Release(os.fact("alertmanager")) < _URL_FILE]
    for name, receiver in cluster.manifest.monitoring.receivers.items():
        if receiver.webhook_url_file and old:
            yield Finding(
                "alertmanager-too-old",
                ("monitoring", "receivers", name, "webhook_url_file"),
                f"the Alertmanager of {old[0].id} is {old[0].fact('alertmanager')}; webhook_url_file needs {_URL_FILE}",
                "a webhook without a secret in its URL, or a newer system on the monitoring node",
            )


def nobody_told(cluster: Cluster) -> Iterator[Finding]:
    """Settings of a monitoring that nothing runs."""
    spec = cluster.manifest.monitoring
    if not spec.enabled or not cluster.hosts("monitoring"):
        why = "monitoring.enabled is false" if not spec.enabled else "no node has the role monitoring"
        for field in ("receivers", "targets", "remote_write"):
            if getattr(spec, field):
                yield Finding(
                    "monitoring-missing",
                    ("monitoring", field),
                    f"{field} without effect: {why}, so there is no Prometheus",
                    "give a node the role monitoring" if spec.enabled else None,
                    key=True,
                )
    elif spec.receivers and not spec.alertmanager:
        yield Finding(
            "receivers-unused",
            ("monitoring", "receivers"),
            "nobody is told of alerts: monitoring.alertmanager is false",
            "leave alertmanager out",
            key=True,
        )


def thresholds(cluster: Cluster) -> Iterator[Finding]:
    spec = cluster.manifest.monitoring.thresholds
    if spec.gpu_hot and spec.gpu_very_hot and spec.gpu_very_hot <= spec.gpu_hot:
        yield Finding(
            "thresholds-order",
            ("monitoring", "thresholds", "gpu_very_hot"),
            f"critical from {spec.gpu_very_hot} °C on (gpu_very_hot) is not above the warning,"
            f" {spec.gpu_hot} °C (gpu_hot)",
        )


def retention(cluster: Cluster) -> Iterator[Finding]:
    spec = cluster.manifest.monitoring
    if spec.retention.seconds == 0 and not spec.retention_size:
        yield Finding(
            "value-out-of-range",
            ("monitoring", "retention"),
            "Prometheus reads a retention of 0 as none stated, and keeps samples for 15 days",
            "write 15d, or state retention_size",
        )


def jobs(cluster: Cluster) -> Iterator[Finding]:
    for name in cluster.manifest.monitoring.targets:
        if name in _OWN_JOBS or name.startswith("slurm"):
            yield Finding(
                "scrape-job-clash",
                ("monitoring", "targets", name),
                f"a scrape job '{name}' is there already, for the exporters of this cluster",
                "give it another name",
                key=True,
            )


RULES = (release, counters, receivers, alertmanager, nobody_told, thresholds, retention, jobs)
