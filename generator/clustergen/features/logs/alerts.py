"""Alerts on the central logs: a node that floods them, nodes that send nothing, a store that is full."""

from __future__ import annotations

from clustergen.cluster.monitoring import NodeExporter
from clustergen.features.logs.resolved import SEARCH_TEXTFILE, TEXTFILE, Logs
from clustergen.render.alerts import Alert, Topic

_FLOOD = 0.01  # of the store, by one host in an hour
_FULL = 0.95


def topic(logs: Logs, _: NodeExporter) -> Topic:
    size = logs.retention_size
    flood = int(size.value * _FLOOD)
    alerts: tuple[Alert, ...] = (
        Alert(
            "LogFlood", f"max by (host) (increase(clustergen_logs_today_bytes[1h])) > {flood}", "0s", "warning",
            summary="{{ $labels.host }} logged {{ $value | humanize1024 }}B in an hour",
            meaning=f"That is more than 1 % of the {size} for all logs: in four days they would be logs of this host"
            " alone, and those of others are deleted before their time.",
            action="On the collector: `ls -lS /var/log/clustergen/{{ $labels.host }}/$(date +%F)`, and tail of the"
            " largest file names the program. Stop it, or lower its log level.",
        ),
        Alert(
            "LogStoreFull", f"clustergen_logs_bytes / clustergen_logs_limit_bytes > {_FULL}", "1h", "warning",
            summary="Logs on {{ $labels.instance }} use {{ $value | humanizePercentage }} of their space",
            meaning="The oldest days are deleted, whatever logs.retention states.",
            action="Raise logs.retention_size or lower logs.retention; the dashboard Logs shows which hosts write"
            " most.",
        ),
        Alert(
            "LogsMissing", 'scalar(count(up{job="node"} == 1)) - clustergen_logs_hosts > 0', "2h", "warning",
            summary="{{ $value }} nodes that respond have sent no logs to {{ $labels.instance }} today",
            meaning="What happens on these nodes is only in their own journals, and lost if their disks are.",
            action="On the collector, `ls -d /var/log/clustergen/*/$(date +%F)` lists the hosts that do. On one that"
            " does not: `systemctl status rsyslog`.",
        ),
        Alert(
            "LogMetricsOld", f'time() - node_textfile_mtime_seconds{{file=~".*/{TEXTFILE}"}} > 3600', "0s", "warning",
            summary="Logs on {{ $labels.instance }} were last checked {{ $value | humanizeDuration }} ago",
            meaning="The script that deletes old logs fails: the disk of the collector fills.",
            action="On the collector: `systemctl status clustergen-log-retention.timer clustergen-log-retention`.",
        ),
    )  # fmt: skip
    if logs.search:
        alerts += _search()
    return Topic(
        "logs",
        "Central logs.",
        (),
        alerts,
        look="On the log collector: `du -s /var/log/clustergen/* | sort -n | tail`, `journalctl -t clustergen-logs`.",
        page="logs",
        works="the cluster and its jobs; each node keeps its own journal",
        place=130,
    )


def _search() -> tuple[Alert, ...]:
    keep = "The lines themselves are in /var/log/clustergen of every collector."
    return (
        Alert(
            "LogSearchRefused", "clustergen_logs_search_refused_documents > 0", "0s", "warning",
            summary="The search cluster has refused {{ $value }} documents of {{ $labels.instance }}",
            meaning=f"Searches do not find them. {keep}",
            action="On the collector, each line of clustergen-search.refused in rsyslog's spool directory has a"
            " document and the reason. Correct the index template or the servers' limits, then run"
            " `clustergen-log-search --resend`.",
        ),
        Alert(
            "LogSearchBehind", "clustergen_logs_search_up == 0 or clustergen_logs_search_waiting_bytes > 0", "1h",
            "warning",
            summary="The search cluster has not accepted logs of {{ $labels.instance }} for an hour",
            meaning="New lines are queued on the collector's disk up to logs.queue_size; further ones are not"
            f" indexed. {keep}",
            action="On the collector: `journalctl -u clustergen-log-search -u rsyslog`. Its password: secret"
            " log-search.",
        ),
        Alert(
            "LogSearchMetricsOld", f'time() - node_textfile_mtime_seconds{{file=~".*/{SEARCH_TEXTFILE}"}} > 3600',
            "0s", "warning",
            summary="The search indexes were last checked by {{ $labels.instance }} {{ $value | humanizeDuration }}"
            " ago",
            meaning="Old indexes are not deleted, and refused documents not sent again.",
            action="On the collector: `systemctl status clustergen-log-search.timer clustergen-log-search`.",
        ),
    )  # fmt: skip
