"""Alerts on Alertmanager, beside those on Prometheus: one that reaches nobody looks like a healthy cluster."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.features.alertmanager.resolved import Alertmanager
from clustergen.render.alerts import Alert, Topic, window


def topic(cluster: Cluster, _: Alertmanager) -> Topic:
    alerts = (
        Alert(
            "AlertmanagerConfigFailed", "alertmanager_config_last_reload_successful == 0", "5m", "warning",
            summary="Alertmanager runs on an old configuration",
            meaning="It rejected its configuration at the last reload.",
            action="amtool check-config on the monitoring node; a file with a secret may be missing.",
        ),
        *_split(cluster),
        *_watchdog(cluster),
        Alert(
            "AlertmanagerCannotSend",
            f"increase(alertmanager_notifications_failed_total[{window(cluster, 10)}]) > 0",
            "10m", "critical",
            summary="Alertmanager cannot send by {{ $labels.integration }}",
            meaning="Alerts fire but are not delivered.",
            action="Its log shows the answer of the mail server or webhook.",
        ),
    )  # fmt: skip
    return Topic("meta", "Alertmanager.", (), alerts, page="monitoring")


def _split(cluster: Cluster) -> Iterator[Alert]:
    """TargetDown reports one that does not run."""
    if (count := len(cluster.of(Monitoring).hosts)) > 1:
        yield Alert(
            "AlertmanagerSplit",
            f'alertmanager_cluster_members < {count} and on () count(up{{job="alertmanager"}} == 1) == {count}',
            "10m", "warning",
            summary="Alertmanager on {{ $labels.instance }} does not see its peers",
            meaning="Each of them sends every alert, so that each arrives more than once.",
            action="Port 9094 by TCP and UDP must be open between the monitoring nodes; its log names the peer.",
        )  # fmt: skip


def _watchdog(cluster: Cluster) -> Iterator[Alert]:
    """Sent again and again: its receiver, outside of the cluster, reports when it stays away."""
    if any("watchdog" in receiver.severities for receiver in cluster.of(Alertmanager).receivers.values()):
        yield Alert(
            "Watchdog", "vector(1)", "0s", "watchdog",
            summary="Prometheus and Alertmanager work",
            meaning="This alert always fires. Where it stops, no other alert reaches anybody.",
            action="Nothing is to be done while it fires. If it stays away: `systemctl status prometheus` on the"
            " monitoring nodes, then Alertmanager, then the way to the receiver.",
        )  # fmt: skip
