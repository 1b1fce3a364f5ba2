"""Rows of the pages of nodes and of logs: errors that kernels logged."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.render.dashboards import CHOSEN, NODE_PAGE, PageRow, Row, Target, graph, row, table


def rows(_cluster: Cluster) -> tuple[PageRow, ...]:
    return (
        PageRow("node", _errors(CHOSEN, "Errors that the kernel logged")),
        PageRow("logs", _errors("", "Errors that kernels logged"), after=""),
    )


def _errors(chosen: str, title: str) -> Row:
    """Errors that the kernels of nodes logged; the matchers `chosen` select the nodes."""
    matchers = f"{{{chosen}}}" if chosen else ""
    errors = f"increase(clustergen_kernel_errors_total{matchers}[1h])"
    if not chosen:
        errors = "sum_over_time(cluster:kernel_errors:increase5m[1h:5m])"
    return row(
        title,
        graph(
            "Errors in an hour, by kind",
            Target(f"sum by (kind) ({errors}) > 0", "{{kind}}"),
            help="kernel.log of the node on the log collector has the lines.",
        ),
        table(
            "Xids in the time range",
            Target(
                f"1000 * (max by (instance, pci, xid) (clustergen_xid_last_timestamp_seconds{matchers})"
                " > time() - $__range_s)",
                "Last",
                "dateTimeFromNow",
            ),
            help="Errors of GPUs, by PCI address and number; alerts state what a number means.",
            empty="None",
            links=NODE_PAGE,
        ),
        table(
            "Lost links in the time range",
            Target(
                f"sum by (instance, interface) (increase(clustergen_link_down_total{matchers}[$__range])) > 0",
                "Times",
            ),
            empty="None",
            links=NODE_PAGE,
        ),
    )
