"""Monitoring and alerts."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.dcgm import dcgm_name_known, dcgm_names
from clustergen.catalogue.versions import DcgmVersion, Release
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean

_BUILT_IN_JOBS = ("alertmanager", "dcgm", "node", "prometheus")
_URL_FILE = Release("0.26")  # the first Alertmanager that reads a webhook's URL from a file


def counters(cluster: Cluster) -> Iterator[Finding]:
    written = cluster.manifest.monitoring.dcgm
    version = DcgmVersion(written.version)
    for index, name in enumerate(written.counters):
        if not dcgm_name_known(name, version):
            yield Finding(
                "dcgm-field-unknown",
                ("monitoring", "dcgm", "counters", index),
                f"DCGM {version} has no field '{name}', and the exporter does not start with it",
                did_you_mean(name, dcgm_names()),
            )


def receivers(cluster: Cluster) -> Iterator[Finding]:
    written = cluster.manifest.monitoring
    for name, receiver in written.receivers.items():
        path: ManifestPath = ("monitoring", "receivers", name)
        ways = (receiver.email, receiver.webhook, receiver.webhook_url_file, receiver.slack_url_file)
        if not any(ways):
            yield Finding(
                "receiver-empty",
                path,
                f"nothing says how '{name}' is told",
                "email, webhook, webhook_url_file or slack_url_file",
                key=True,
            )
        if receiver.webhook and receiver.webhook_url_file:
            yield Finding(
                "receiver-twice", (*path, "webhook_url_file"), "the webhook's URL is given here or in a file, not both"
            )
        if receiver.slack_channel and not receiver.slack_url_file:
            yield Finding(
                "receiver-empty", (*path, "slack_channel"), "a channel alone reaches nobody: slack_url_file is missing"
            )
        if receiver.email and not (written.smtp and written.mail_from):
            yield Finding(
                "mail-server-missing",
                (*path, "email"),
                "mail needs monitoring.smtp and monitoring.mail_from",
                "or a webhook in place of mail",
            )
    if written.receivers and not written.alertmanager:
        yield Finding("receivers-unused", ("monitoring", "receivers"), "nobody is told: alertmanager is off", key=True)


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


def role(cluster: Cluster) -> Iterator[Finding]:
    if cluster.manifest.monitoring.receivers and not cluster.hosts("monitoring"):
        yield Finding(
            "monitoring-missing",
            ("monitoring", "receivers"),
            "nobody is told: no node has the role monitoring",
            key=True,
        )


def ports(cluster: Cluster) -> Iterator[Finding]:
    """What runs on the monitoring node, and on every GPU node, must not share a port."""
    written = cluster.manifest.monitoring
    places: list[tuple[ManifestPath, str, int]] = [
        (("monitoring", "node_exporter", "port"), "node exporter", written.node_exporter.port),
        (("monitoring", "dcgm", "port"), "dcgm-exporter", written.dcgm.port),
        (("monitoring", "port"), "Prometheus", written.port),
        (("monitoring", "alertmanager_port"), "Alertmanager", written.alertmanager_port),
    ]
    taken: dict[int, str] = {}
    for path, name, port in places:
        if port in taken:
            yield Finding("port-twice", path, f"{name} and {taken[port]} cannot both listen on port {port}")
        taken.setdefault(port, name)


def thresholds(cluster: Cluster) -> Iterator[Finding]:
    written = cluster.manifest.monitoring.thresholds
    if written.gpu_very_hot <= written.gpu_hot:
        yield Finding(
            "thresholds-order",
            ("monitoring", "thresholds", "gpu_very_hot"),
            f"critical at {written.gpu_very_hot} °C is not above the warning at {written.gpu_hot} °C",
        )
    interval = cluster.manifest.monitoring.scrape_interval
    if cluster.manifest.monitoring.dcgm.interval > interval * 1000:
        yield Finding(
            "dcgm-slower-than-scrape",
            ("monitoring", "dcgm", "interval"),
            f"a sample every {cluster.manifest.monitoring.dcgm.interval} ms, scraped every {interval} s, comes twice",
        )


def jobs(cluster: Cluster) -> Iterator[Finding]:
    for name in cluster.manifest.monitoring.targets:
        if name in _BUILT_IN_JOBS or name.startswith("slurm"):
            yield Finding("scrape-job-clash", ("monitoring", "targets", name), f"'{name}' is a job of ours", key=True)


RULES = (counters, receivers, alertmanager, role, ports, thresholds, jobs)
