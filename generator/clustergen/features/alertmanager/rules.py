"""Alertmanager: receivers, and what they require."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.versions import Release
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.features.alertmanager.resolved import Alertmanager
from clustergen.manifest import monitoring as manifest
from clustergen.rules.unused import unused

_MAIL = {"smtp": "smtp: mail.example.org:25", "mail_from": "mail_from: cluster@example.org"}
_URL_FILE = Release("0.26")  # the first Alertmanager that reads a webhook's URL from a file
_OF_MAIL = ("smtp", "smtp_require_tls", "mail_from")


def receivers(_: Cluster, section: manifest.Monitoring) -> Iterator[Finding]:
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


def alertmanager_too_old(cluster: Cluster, alertmanager: Alertmanager) -> Iterator[Finding]:
    systems = {group.type.os.id: group.type.os for group in cluster.with_role("monitoring")}
    old = [os for os in systems.values() if Release(os.fact("alertmanager")) < _URL_FILE]
    for name, receiver in alertmanager.receivers.items():
        if receiver.webhook_url_file and old:
            yield Finding(
                "alertmanager-too-old",
                ("monitoring", "receivers", name, "webhook_url_file"),
                f"webhook_url_file requires Alertmanager {_URL_FILE} or newer; {old[0].id} has"
                f" {old[0].fact('alertmanager')}",
                "use webhook with a URL that holds no secret, or a newer operating system on the monitoring node",
            )


def receivers_unused(cluster: Cluster, section: manifest.Monitoring) -> Iterator[Finding]:
    if cluster.has(Monitoring) and section.receivers and not section.alertmanager:
        yield Finding(
            "receivers-unused",
            ("monitoring", "receivers"),
            "receivers have no effect: monitoring.alertmanager is false, so no alert is sent",
            "remove alertmanager: false",
            key=True,
        )


def mail(cluster: Cluster, section: manifest.Monitoring) -> Iterator[Finding]:
    runs = cluster.has(Monitoring)  # else monitoring-missing
    if runs and not any(receiver.email for receiver in section.receivers.values()):
        hint = "add a receiver: receivers: {operators: {email: operators@example.org}}"
        yield from unused(section, ("monitoring",), _OF_MAIL, "no receiver has an email address", hint)
