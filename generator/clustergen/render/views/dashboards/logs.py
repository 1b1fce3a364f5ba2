"""The central logs, and what the kernels of all nodes report in theirs."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.render.views.dashboards.model import NODE_PAGE, Dashboard, Panel, Row, Target, at_least, graph, stat

_MOST = 20


def dashboard(_cluster: Cluster) -> Dashboard:
    return Dashboard(
        "logs",
        "Logs",
        "Errors in the logs of kernels, and the space of the central logs.",
        (kernel("", "Errors that kernels logged"), _store()),
    )


def kernel(chosen: str, title: str) -> Row:
    """Of the nodes that the matchers `chosen` select."""
    matchers = f"{{{chosen}}}" if chosen else ""
    errors = f"increase(clustergen_kernel_errors_total{matchers}[1h])"
    if not chosen:
        errors = "sum_over_time(cluster:kernel_errors:increase5m[1h:5m])"
    return Row(
        title,
        (
            graph(
                "Errors in an hour, by kind",
                Target(f"sum by (kind) ({errors}) > 0", "{{kind}}"),
                minimum=0,
                help="kernel.log of the node on the log collector has the lines.",
            ),
            Panel(
                "Xids in the time range",
                "table",
                (
                    Target(
                        f"1000 * (max by (instance, pci, xid) (clustergen_xid_last_timestamp_seconds{matchers})"
                        " > time() - $__range_s)",
                        "Last",
                        "dateTimeFromNow",
                    ),
                ),
                help="Errors of GPUs, by PCI address and number; alerts state what a number means.",
                empty="None",
                links=NODE_PAGE,
            ),
            Panel(
                "Lost links in the time range",
                "table",
                (
                    Target(
                        f"sum by (instance, interface) (increase(clustergen_link_down_total{matchers}[$__range])) > 0",
                        "Times",
                    ),
                ),
                empty="None",
                links=NODE_PAGE,
            ),
        ),
    )


def _store() -> Row:
    share = "clustergen_logs_bytes / clustergen_logs_limit_bytes"
    return Row(
        "Central logs",
        (
            stat("Space used", f"max({share})", "percentunit", steps=at_least(0.8, 0.95)),
            stat("Size", "max(clustergen_logs_bytes)", "bytes"),
            stat("Days of logs", "max(clustergen_logs_days)"),
            stat("Hosts that sent today", "min(clustergen_logs_hosts)"),
            graph(
                "Hosts that log most in an hour",
                Target(f"topk({_MOST}, max by (host) (increase(clustergen_logs_today_bytes[1h])))", "{{host}}"),
                unit="bytes",
                minimum=0,
                width=12,
                links=(("host", "node"),),
            ),
            graph(
                "Size over time",
                Target("clustergen_logs_bytes", "{{instance}}"),
                Target("clustergen_logs_limit_bytes", "{{instance}}, limit"),
                unit="bytes",
                minimum=0,
                width=12,
            ),
        ),
    )
