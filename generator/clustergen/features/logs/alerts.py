"""Alerts on the central logs: a node that floods them, nodes that send nothing, a store that is full."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.features.logs.resolved import TEXTFILE, Logs
from clustergen.render.alerts import Alert, Topic

_FLOOD = 0.01  # of the store, by one host in an hour
_FULL = 0.95


def topic(cluster: Cluster) -> Topic | None:
    if not (cluster.has(Logs) and cluster.has(NodeExporter)):
        return None
    size = cluster.of(Logs).retention_size
    flood = int(size.value * _FLOOD)
    alerts = (
        Alert(
            "LogFlood", f"max by (host) (increase(clustergen_logs_today_bytes[1h])) > {flood}", "0s", "warning",
            "{{ $labels.host }} logged {{ $value | humanize1024 }}B in an hour",
            f"That is more than 1 % of the {size} for all logs: in four days they would be logs of this host alone,"
            " and those of others are deleted before their time.",
            "On the collector: `ls -lS /var/log/clustergen/{{ $labels.host }}/$(date +%F)`, and tail of the largest"
            " file"
            " names the program. Stop it, or lower its log level.",
        ),
        Alert(
            "LogStoreFull", f"clustergen_logs_bytes / clustergen_logs_limit_bytes > {_FULL}", "1h", "warning",
            "Logs on {{ $labels.instance }} use {{ $value | humanizePercentage }} of their space",
            "The oldest days are deleted, whatever logs.retention states.",
            "Raise logs.retention_size or lower logs.retention; the dashboard Logs shows which hosts write most.",
        ),
        Alert(
            "LogsMissing", 'scalar(count(up{job="node"} == 1)) - clustergen_logs_hosts > 0', "2h", "warning",
            "{{ $value }} nodes that respond have sent no logs to {{ $labels.instance }} today",
            "What happens on these nodes is only in their own journals, and lost if their disks are.",
            "On the collector, `ls -d /var/log/clustergen/*/$(date +%F)` lists the hosts that do. On one that does not:"
            " `systemctl status rsyslog`.",
        ),
        Alert(
            "LogMetricsOld", f'time() - node_textfile_mtime_seconds{{file=~".*/{TEXTFILE}"}} > 3600', "0s", "warning",
            "Logs on {{ $labels.instance }} were last checked {{ $value | humanizeDuration }} ago",
            "The script that deletes old logs fails: the disk of the collector fills.",
            "On the collector: `systemctl status clustergen-log-retention.timer clustergen-log-retention`.",
        ),
    )  # fmt: skip
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
