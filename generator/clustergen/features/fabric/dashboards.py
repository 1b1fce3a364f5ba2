"""Fabric ports: state, load, errors."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import PortErrors
from clustergen.cluster.model import Cluster
from clustergen.render.dashboards import (
    ANY_IS_BAD,
    CHOSEN,
    MOST_PORTS,
    PORT,
    PORT_ERRORS,
    Dashboard,
    Panel,
    Target,
    Variable,
    graph,
    links_lost,
    port_rate,
    row,
    stat,
    table,
)

_THIS_PAGE = (("instance", "fabric"),)
_ERRORS = {
    "Recoveries": "node_infiniband_link_error_recovery_total",
    "Symbol errors": "node_infiniband_symbol_error_total",
    "Receive errors": "node_infiniband_port_errors_received_total",
}
"""Column → counter of an InfiniBand port."""


def dashboard(cluster: Cluster) -> Dashboard | None:
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type == "ethernet":
        return None
    is_infiniband = fabric.type == "infiniband"
    errors = {"Links lost": "node_infiniband_link_downed_total"} | (_ERRORS if is_infiniband else {})
    errors |= {each.title: each.metric for each in cluster.needs(PortErrors)}
    return Dashboard(
        "fabric",
        "Fabric",
        f"Ports of the {'InfiniBand' if is_infiniband else 'RoCE'} fabric: state, load, errors.",
        (
            row("Now", *_summary()),
            row("Ports of all nodes", *_ports(errors)),
            row("Load of the chosen nodes", *_load()),
            *([row(PORT_ERRORS, *_infiniband())] if is_infiniband else []),
        ),
        (Variable("instance", "Node", "node_infiniband_state_id", "instance"),),
        place=70,
    )


def _summary() -> Iterator[Panel]:
    yield stat("Ports", "cluster:fabric_ports:count")
    yield stat("Ports down", "cluster:fabric_ports_down:count", steps=ANY_IS_BAD)
    yield stat("Received", "8 * sum(node:fabric_received_bytes:rate)", "bps")
    yield stat("Sent", "8 * sum(node:fabric_transmitted_bytes:rate)", "bps")
    yield stat("Links lost in a day", "sum_over_time(cluster:fabric_links_lost:increase5m[1d:5m])", steps=ANY_IS_BAD)


def _ports(errors: dict[str, str]) -> Iterator[Panel]:
    """Tables, which read one moment: graphs of all ports of a large cluster would take seconds."""
    by = "max by (instance, device)"
    yield table(
        "Ports that are not active",
        Target("max by (instance, device, port) (node_infiniband_state_id) != 4", "State"),
        words=((1, "down"), (2, "initializing"), (3, "armed")),
        empty="All ports are active",
        width=12,
        links=_THIS_PAGE,
    )
    yield table(
        "Slowest ports",
        Target(f"bottomk({MOST_PORTS}, 8 * {by} (node_infiniband_rate_bytes_per_second))", "Rate", "bps"),
        width=12,
        links=_THIS_PAGE,
    )
    yield table(
        "Errors in the last hour",
        *(Target(f"topk({MOST_PORTS}, {by} (increase({name}[1h])) > 0)", title) for title, name in errors.items()),
        width=24,
        links=_THIS_PAGE,
        help="The ports with most of each kind; a click on a node shows its graphs below.",
        empty="None",
    )


def _load() -> Iterator[Panel]:
    for title, direction in (("Received", "received"), ("Sent", "transmitted")):
        counter = f"node_infiniband_port_data_{direction}_bytes_total"
        yield graph(
            title,
            Target(f"topk({MOST_PORTS}, 8 * rate({counter}{{{CHOSEN}}}[$__rate_interval]))", PORT),
            unit="bps",
            width=12,
        )


def _infiniband() -> Iterator[Panel]:
    yield links_lost()
    yield port_rate(
        "Link recoveries", "node_infiniband_link_error_recovery_total", "Each stalls traffic for milliseconds."
    )
    yield port_rate("Symbol errors", "node_infiniband_symbol_error_total", "Errors that the cable's correction left.")
    yield port_rate("Receive errors", "node_infiniband_port_errors_received_total")
    yield port_rate(
        "Discards", "node_infiniband_port_discards_transmitted_total", "Packets without credits: congestion."
    )
