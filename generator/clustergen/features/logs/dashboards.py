"""The central logs."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.render.dashboards import Dashboard, Row, Target, at_least, graph, row, stat

_MOST = 20


def dashboard(_cluster: Cluster) -> Dashboard:
    return Dashboard(
        "logs", "Logs", "Errors in the logs of kernels, and the space of the central logs.", (_store(),), place=100
    )


def _store() -> Row:
    share = "clustergen_logs_bytes / clustergen_logs_limit_bytes"
    return row(
        "Central logs",
        stat("Space used", f"max({share})", "percentunit", steps=at_least(0.8, 0.95)),
        stat("Size", "max(clustergen_logs_bytes)", "bytes"),
        stat("Days of logs", "max(clustergen_logs_days)"),
        stat("Hosts that sent today", "min(clustergen_logs_hosts)"),
        graph(
            "Hosts that log most in an hour",
            Target(f"topk({_MOST}, max by (host) (increase(clustergen_logs_today_bytes[1h])))", "{{host}}"),
            unit="bytes",
            width=12,
            links=(("host", "node"),),
        ),
        graph(
            "Size over time",
            Target("clustergen_logs_bytes", "{{instance}}"),
            Target("clustergen_logs_limit_bytes", "{{instance}}, limit"),
            unit="bytes",
            width=12,
        ),
    )
