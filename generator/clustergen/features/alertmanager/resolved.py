"""Alertmanager as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.manifest import monitoring as manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import copied, record


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


def resolve(section: manifest.Monitoring, _: Cluster, __: Monitoring) -> Alertmanager | None:
    """A mail server on the same host mostly offers no TLS, and needs none."""
    if not section.alertmanager:
        return None
    sends_mail = any(receiver.email for receiver in section.receivers.values())
    is_local = (section.smtp or "").startswith(("localhost:", "127.", "[::1]:"))
    return copied(
        Alertmanager,
        section,
        port=section.alertmanager_port,
        port_at=stated_at(section, "monitoring", "alertmanager_port"),
        smtp=section.smtp if sends_mail else None,
        smtp_require_tls=not is_local if section.smtp_require_tls is None else section.smtp_require_tls,
        receivers={name: copied(Receiver, receiver) for name, receiver in section.receivers.items()},
    )


RECORDS = {Alertmanager: resolve}
