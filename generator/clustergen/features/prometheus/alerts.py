"""Alerts on the monitoring itself: an alert that cannot fire or reaches nobody looks like a healthy cluster."""

from __future__ import annotations

from clustergen.cluster.contributions import Notifier, ScrapeJob
from clustergen.cluster.model import Cluster
from clustergen.features.prometheus.resolved import Samples
from clustergen.render.alerts import Alert, Topic, window

_LATE = 600  # seconds behind


def topic(cluster: Cluster) -> Topic:
    minutes = window(cluster, 10)
    # Jobs with alerts of their own.
    others = "node|dcgm|slurm-.*" + ("|snmp" if any(job.name == "snmp" for job in cluster.needs(ScrapeJob)) else "")
    alerts = [
        Alert(
            "PrometheusConfigFailed", "prometheus_config_last_reload_successful == 0", "5m", "warning",
            summary="Prometheus runs on an old configuration",
            meaning="It rejected its configuration at the last reload.",
            action="On the monitoring node: `promtool check config /etc/prometheus/prometheus.yml`, then"
            " `systemctl reload prometheus`.",
        ),
        Alert(
            "PrometheusRulesFail",
            f"increase(prometheus_rule_evaluation_failures_total[{minutes}]) > 0",
            "10m", "critical",
            summary="Prometheus cannot evaluate rules of {{ $labels.rule_group }}",
            meaning="Alerts of that group do not fire.",
            action="Status, Rules in the menu of Prometheus shows the error.",
        ),
        Alert(
            "PrometheusRulesSlow",
            "prometheus_rule_group_last_duration_seconds > prometheus_rule_group_interval_seconds", "15m", "warning",
            summary="Rules of {{ $labels.rule_group }} take longer than their interval",
            meaning="Alerts are late or missing.",
            action="Raise monitoring.scrape_interval in the manifest, or give Prometheus more cores.",
        ),
        Alert(
            "PrometheusStorageFails",
            f"increase(prometheus_tsdb_compactions_failed_total[{minutes}]) > 0"
            f" or increase(prometheus_tsdb_wal_corruptions_total[{minutes}]) > 0",
            "0s", "warning",
            summary="Prometheus cannot write its samples",
            meaning="Usually its disk is full.",
            action="Free space, or lower monitoring.retention; its log names the block.",
        ),
        Alert(
            "TargetDown", f'up{{job!~"{others}"}} == 0', "5m", "warning",
            summary="{{ $labels.job }} on {{ $labels.instance }} does not respond",
            meaning="Prometheus reads no metrics from it.",
            action="Status, Targets in the menu of Prometheus shows the error.",
        ),
        Alert(
            "TextfileUnreadable", "node_textfile_scrape_error == 1", "10m", "warning",
            summary="A metrics file on {{ $labels.instance }} cannot be read",
            meaning="A script wrote something that is not Prometheus' text format.",
            action="The log of the node exporter names the file.",
        ),
    ]  # fmt: skip
    if cluster.has(Samples) and cluster.of(Samples).remote_write:
        sent = "prometheus_remote_storage_queue_highest_sent_timestamp_seconds"
        alerts += [
            Alert(
                "PrometheusRemoteWriteFails",
                f"increase(prometheus_remote_storage_samples_failed_total[{minutes}]) > 0"
                " or on (instance, url)\n"
                f"time() - {sent} > {_LATE}",
                "15m", "warning",
                summary="{{ $labels.instance }} cannot send its samples to {{ $labels.url }}",
                meaning="The remote store refuses them or does not answer. Prometheus keeps two hours of them for it.",
                action="`journalctl -u prometheus --grep remote` shows the store's answer.",
            ),
        ]  # fmt: skip
    if cluster.needs(Notifier):
        alerts += [
            Alert(
                "PrometheusCannotNotify",
                f"increase(prometheus_notifications_errors_total[{minutes}]) > 0"
                " or prometheus_notifications_alertmanagers_discovered < 1",
                "10m", "critical",
                summary="Prometheus cannot reach Alertmanager",
                meaning="Alerts fire but are not sent.",
                action="systemctl status of Alertmanager on the monitoring node.",
            ),
        ]  # fmt: skip
    return Topic(
        "meta",
        "The monitoring itself.",
        (),
        tuple(alerts),
        look="Targets, rules and configuration are in the menu Status of Prometheus.",
        page="monitoring",
        works="the cluster and its jobs; what is impaired is what watches them",
        place=180,
    )
