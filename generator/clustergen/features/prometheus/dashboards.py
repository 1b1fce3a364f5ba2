"""The monitoring itself: targets, rules, storage, and delivery of alerts."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.render.alerts import prometheus_url
from clustergen.render.dashboards import ANY_IS_BAD, IS_ONE, Dashboard, Row, Target, graph, or_none, row, stat, table

_LOADED = ((0, "rejected"), (1, "loaded"))


def dashboard(cluster: Cluster) -> Dashboard:
    return Dashboard(
        "monitoring",
        "Monitoring",
        "Targets, rules, samples, and delivery of alerts.",
        (_summary(), _targets(cluster), _probes(), _storage(), _alerting()),
    )


def _summary() -> Row:
    return row(
        "Now",
        stat("Targets", "sum(job:targets:count)"),
        stat("Targets down", "sum(job:targets_down:count) or vector(0)", steps=ANY_IS_BAD),
        stat("Series", "sum(prometheus_tsdb_head_series)"),
        stat(
            "Configuration of Prometheus",
            "min(prometheus_config_last_reload_successful)",
            steps=IS_ONE,
            words=_LOADED,
            help="Whether the last reload succeeded.",
        ),
        stat(
            "Configuration of Alertmanager",
            "min(alertmanager_config_last_reload_successful)",
            steps=IS_ONE,
            words=_LOADED,
            help="Whether the last reload succeeded.",
        ),
    )


def _targets(cluster: Cluster) -> Row:
    return row(
        "Targets",
        table(
            "Targets by job",
            Target("count by (job) (up)", "Targets"),
            Target("sum by (job) (up)", "Up"),
            Target("sum by (job) (scrape_samples_scraped)", "Samples"),
            Target("max by (job) (scrape_duration_seconds)", "Slowest", "s"),
            width=12,
            links=(("job", _page(cluster)),),
            help="A click on a job shows its targets in Prometheus, with the errors of scrapes.",
        ),
        graph("Targets down", Target(or_none("job:targets_down:count", "job"), "{{job}}"), width=6),
        graph("Slowest scrapes", Target("job:scrape_seconds:max", "{{job}}"), unit="s", width=6),
    )


def _probes() -> Row:
    return row(
        "Probes and dates",
        table(
            "Failed probes",
            Target("max by (job, instance) (probe_success == 0)"),
            help="probe-ssh: sshd, probe-bmc: the page of a BMC, probe-web: a page.",
            empty="All probes succeed",
        ),
        graph("Slowest probes", Target("topk(20, probe_duration_seconds)", "{{job}} {{instance}}"), unit="s", links=()),
        table(
            "Certificates of pages",
            Target("sort(min by (instance) (probe_ssl_earliest_cert_expiry)) * 1000", "Expires", "dateTimeAsIso"),
            help="An alert fires 14 days before.",
        ),
        table(
            "Certificates in files",
            Target(
                "sort(min by (file) (clustergen_certificate_expiry_timestamp_seconds)) * 1000",
                "Expires",
                "dateTimeAsIso",
            ),
            help="The earliest of all nodes.",
        ),
    )


def _storage() -> Row:
    return row(
        "Prometheus",
        graph(
            "Samples per second",
            Target("rate(prometheus_tsdb_head_samples_appended_total[$__rate_interval])", "{{instance}}"),
            unit="cps",
        ),
        graph(
            "Size of the database",
            Target("prometheus_tsdb_storage_blocks_bytes", "{{instance}} blocks"),
            Target("prometheus_tsdb_wal_storage_size_bytes", "{{instance}} log"),
            unit="bytes",
            stacked=True,
        ),
        graph(
            "Duration of rule evaluation",
            Target("prometheus_rule_group_last_duration_seconds", "{{rule_group}}"),
            unit="s",
        ),
        graph(
            "Duration of queries",
            Target('prometheus_engine_query_duration_seconds{quantile="0.9"}', "{{slice}}"),
            unit="s",
            help="The slowest tenth takes longer.",
        ),
    )


def _alerting() -> Row:
    return row(
        "Alerts",
        graph("Alerts in Alertmanager", Target("sum by (state) (alertmanager_alerts)", "{{state}}")),
        graph(
            "Notifications sent in an hour",
            Target("sum by (integration) (increase(alertmanager_notifications_total[1h]))", "{{integration}}"),
        ),
        graph(
            "Notifications that failed in an hour",
            Target("sum by (integration) (increase(alertmanager_notifications_failed_total[1h]))", "{{integration}}"),
        ),
    )


def _page(cluster: Cluster) -> str:
    """The URL of the targets, to which the name of a job is appended. Debian's package has the classic pages alone."""
    is_debian = cluster.with_role("monitoring")[0].type.os.fact("family") == "debian"
    return f"{prometheus_url(cluster)}/{'classic/targets#job-' if is_debian else 'targets#pool-'}"
