"""Fabric ports: state, load and errors of InfiniBand; pauses and congestion of RoCE; interfaces of plain Ethernet."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.render.dashboards import (
    ANY_IS_BAD,
    CHOSEN,
    Dashboard,
    Panel,
    Row,
    Target,
    Variable,
    graph,
    stat,
)

_NAME = "{{instance}} {{device}}"
_MOST = 20
_THIS_PAGE = (("instance", "fabric"),)
_LOST = {"Links lost": "node_infiniband_link_downed_total"}
_INFINIBAND_ERRORS = {
    **_LOST,
    "Recoveries": "node_infiniband_link_error_recovery_total",
    "Symbol errors": "node_infiniband_symbol_error_total",
    "Receive errors": "node_infiniband_port_errors_received_total",
}
_ROCE_ERRORS = {
    **_LOST,
    "Out of sequence": "clustergen_roce_out_of_sequence_packets_total",
    "Timeouts": "clustergen_roce_ack_timeouts_total",
    "Without a buffer": "clustergen_roce_out_of_buffer_drops_total",
}
"""Column → counter of a port."""


def dashboard(cluster: Cluster) -> Dashboard | None:
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type == "ethernet":
        return None
    counters, errors = (_roce(), _ROCE_ERRORS) if fabric.type == "roce" else (_infiniband(), _INFINIBAND_ERRORS)
    return Dashboard(
        "fabric",
        "Fabric",
        f"Ports of the {'RoCE' if fabric.type == 'roce' else 'InfiniBand'} fabric: state, load, errors.",
        (
            Row("Now", tuple(_summary())),
            Row("Ports of all nodes", tuple(_ports(errors))),
            Row("Load of the chosen nodes", tuple(_load())),
            Row("Errors of the chosen nodes", tuple(counters)),
        ),
        (Variable("instance", "Node", "node_infiniband_state_id", "instance"),),
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
    yield Panel(
        "Ports that are not active",
        "table",
        (Target("max by (instance, device, port) (node_infiniband_state_id) != 4", "State"),),
        words=((1, "down"), (2, "initializing"), (3, "armed")),
        empty="All ports are active",
        width=12,
        links=_THIS_PAGE,
    )
    yield Panel(
        "Slowest ports",
        "table",
        (Target(f"bottomk({_MOST}, 8 * {by} (node_infiniband_rate_bytes_per_second))", "Rate", "bps"),),
        width=12,
        links=_THIS_PAGE,
    )
    yield Panel(
        "Errors in the last hour",
        "table",
        tuple(Target(f"topk({_MOST}, {by} (increase({name}[1h])) > 0)", title) for title, name in errors.items()),
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
            Target(f"topk({_MOST}, 8 * rate({counter}{{{CHOSEN}}}[$__rate_interval]))", _NAME),
            unit="bps",
            minimum=0,
            width=12,
        )


def _most(title: str, metric: str, help: str = "", *, unit: str = "eps") -> Panel:
    expr = f"topk({_MOST}, rate({metric}{{{CHOSEN}}}[$__rate_interval]))"
    return graph(title, Target(expr, _NAME), unit=unit, minimum=0, help=help)


def _links() -> Panel:
    """In an hour: as a rate, single losses would be numbers with many zeros."""
    expr = f"topk({_MOST}, increase(node_infiniband_link_downed_total{{{CHOSEN}}}[1h]))"
    target = Target(expr, _NAME)
    return graph("Links lost in an hour", target, minimum=0, help="An alert fires above two.")


def _infiniband() -> Iterator[Panel]:
    yield _links()
    yield _most("Link recoveries", "node_infiniband_link_error_recovery_total", "Each stalls traffic for milliseconds.")
    yield _most("Symbol errors", "node_infiniband_symbol_error_total", "Errors that the cable's correction left.")
    yield _most("Receive errors", "node_infiniband_port_errors_received_total")
    yield _most("Discards", "node_infiniband_port_discards_transmitted_total", "Packets without credits: congestion.")


def _roce() -> Iterator[Panel]:
    yield _most(
        "Congestion notifications handled",
        "clustergen_roce_cnp_handled_total",
        "The sender slows down for each; an alert fires at 1000 a second for half an hour.",
    )
    yield _most("Packets marked by switches", "clustergen_roce_ecn_marked_packets_total")
    for title, direction in (("Paused by the switch", "received"), ("Pauses sent", "sent")):
        which = f'clustergen_roce_pause_seconds_total{{direction="{direction}",{CHOSEN}}}'
        expr = f"topk({_MOST}, sum without (priority) (rate({which}[$__rate_interval])))"
        yield graph(
            title,
            Target(expr, _NAME),
            unit="percentunit",
            minimum=0,
            help="Share of time; an alert fires at 10 %.",
        )
    yield _most("Packets out of sequence", "clustergen_roce_out_of_sequence_packets_total")
    yield _most("Missing acknowledgements", "clustergen_roce_ack_timeouts_total")
    yield _most(
        "Packets without a buffer", "clustergen_roce_out_of_buffer_drops_total", "The node receives too slowly."
    )
    yield _links()
