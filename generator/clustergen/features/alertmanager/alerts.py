"""Alerts on Alertmanager, beside those on Prometheus: one that reaches nobody looks like a healthy cluster."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.alertmanager.resolved import Alertmanager
from clustergen.render.alerts import Alert, Topic, window


def topic(cluster: Cluster) -> Topic | None:
    if not cluster.has(Alertmanager):
        return None
    alerts = (
        Alert(
            "AlertmanagerConfigFailed", "alertmanager_config_last_reload_successful == 0", "5m", "warning",
            "Alertmanager runs on an old configuration",
            "It rejected its configuration at the last reload.",
            "amtool check-config on the monitoring node; a file with a secret may be missing.",
        ),
        Alert(
            "AlertmanagerCannotSend",
            f"increase(alertmanager_notifications_failed_total[{window(cluster, 10)}]) > 0",
            "10m", "critical",
            "Alertmanager cannot send by {{ $labels.integration }}",
            "Alerts fire but are not delivered.",
            "Its log shows the answer of the mail server or webhook.",
        ),
    )  # fmt: skip
    return Topic("meta", "Alertmanager.", (), alerts, page="monitoring")
