"""Fabric ports: state, load and errors of InfiniBand; pauses and congestion of RoCE; interfaces of plain Ethernet."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.render.views.dashboards.model import ANY_IS_BAD, Dashboard, Panel, Row, Target, Variable, graph, stat

_CHOSEN = 'instance=~"$instance"'
_NAME = "{{instance}} {{device}}"
_MOST = 20


def dashboard(cluster: Cluster) -> Dashboard | None:
    fabric = cluster.manifest.networks.fabric
    if fabric is None or fabric.type == "ethernet":
        return None
    counters = _roce() if fabric.type == "roce" else _infiniband()
    return Dashboard(
        "fabric",
        "Fabric",
        f"Ports of the {'RoCE' if fabric.type == 'roce' else 'InfiniBand'} fabric: state, load, errors.",
        (Row("Now", tuple(_summary())), Row("Load", tuple(_load())), Row("Errors", tuple(counters))),
        (Variable("instance", "Node", "node_infiniband_state_id", "instance", has_all=True),),
    )


def _summary() -> Iterator[Panel]:
    yield stat("Ports", "count(node_infiniband_state_id)")
    yield stat(
        "Ports down", "count(node_infiniband_state_id != 4) or vector(0)", steps=ANY_IS_BAD, help="State 4 is active."
    )
    yield stat("Received", "sum(node:fabric_received_bytes:rate)", "Bps")
    yield stat("Sent", "sum(node:fabric_transmitted_bytes:rate)", "Bps")
    yield stat("Links lost in a day", "sum(increase(node_infiniband_link_downed_total[1d]))", steps=ANY_IS_BAD)


def _load() -> Iterator[Panel]:
    for title, direction in (("Received", "received"), ("Sent", "transmitted")):
        counter = f"node_infiniband_port_data_{direction}_bytes_total"
        yield graph(
            f"{title}, busiest ports",
            Target(f"topk({_MOST}, rate({counter}{{{_CHOSEN}}}[$__rate_interval]))", _NAME),
            unit="Bps",
            minimum=0,
            width=12,
            links=(("instance", "node"),),
        )
    yield Panel(
        "Slowest ports",
        "table",
        (Target(f"bottomk({_MOST}, node_infiniband_rate_bytes_per_second{{{_CHOSEN}}})", "Rate", "Bps"),),
        width=12,
        links=(("instance", "node"),),
    )
    yield Panel(
        "Ports that are not active",
        "table",
        (Target(f"max by (instance, device, port) (node_infiniband_state_id{{{_CHOSEN}}}) != 4", "State"),),
        width=12,
        words=((1, "down"), (2, "initializing"), (3, "armed")),
        links=(("instance", "node"),),
    )


def _most(title: str, metric: str, help: str = "", *, unit: str = "eps") -> Panel:
    expr = f"topk({_MOST}, rate({metric}{{{_CHOSEN}}}[$__rate_interval]))"
    return graph(title, Target(expr, _NAME), unit=unit, minimum=0, help=help, links=(("instance", "node"),))


def _infiniband() -> Iterator[Panel]:
    yield _most("Links lost", "node_infiniband_link_downed_total")
    yield _most("Link recoveries", "node_infiniband_link_error_recovery_total", "Each stalls traffic for milliseconds.")
    yield _most("Symbol errors", "node_infiniband_symbol_error_total", "Errors that the cable's correction left.")
    yield _most("Damaged packets", "node_infiniband_port_errors_received_total")
    yield _most("Discards", "node_infiniband_port_discards_transmitted_total", "Packets without credits: congestion.")


def _roce() -> Iterator[Panel]:
    yield _most(
        "Congestion notifications handled",
        "clustergen_roce_cnp_handled_total",
        "The sender slows down for each; an alert fires at 1000 a second for half an hour.",
    )
    yield _most("Packets marked by switches", "clustergen_roce_ecn_marked_packets_total")
    for title, direction in (("Paused by the switch", "received"), ("Pauses sent", "sent")):
        which = f'clustergen_roce_pause_seconds_total{{direction="{direction}",{_CHOSEN}}}'
        expr = f"topk({_MOST}, sum without (priority) (rate({which}[$__rate_interval])))"
        yield graph(
            title,
            Target(expr, _NAME),
            unit="percentunit",
            minimum=0,
            help="Share of time; an alert fires at 10 %.",
            links=(("instance", "node"),),
        )
    yield _most("Packets out of sequence", "clustergen_roce_out_of_sequence_packets_total")
    yield _most("Missing acknowledgements", "clustergen_roce_ack_timeouts_total")
    yield _most(
        "Packets without a buffer", "clustergen_roce_out_of_buffer_drops_total", "The node receives too slowly."
    )
    yield _most("Links lost", "node_infiniband_link_downed_total")
