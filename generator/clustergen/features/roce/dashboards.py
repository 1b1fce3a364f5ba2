"""Pauses and congestion of RoCE ports, on the page of the fabric."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.render.dashboards import (
    CHOSEN,
    MOST_PORTS,
    PORT,
    PORT_ERRORS,
    PageRow,
    Panel,
    Target,
    graph,
    links_lost,
    port_rate,
    row,
)


def rows(cluster: Cluster) -> Iterator[PageRow]:
    fabric = cluster.networks.fabric
    if fabric is not None and fabric.type == "roce":
        yield PageRow("fabric", row(PORT_ERRORS, *_panels()))


def _panels() -> Iterator[Panel]:
    yield port_rate(
        "Congestion notifications handled",
        "clustergen_roce_cnp_handled_total",
        "The sender slows down for each; an alert fires at 1000 a second for half an hour.",
    )
    yield port_rate("Packets marked by switches", "clustergen_roce_ecn_marked_packets_total")
    for title, direction in (("Paused by the switch", "received"), ("Pauses sent", "sent")):
        which = f'clustergen_roce_pause_seconds_total{{direction="{direction}",{CHOSEN}}}'
        expr = f"topk({MOST_PORTS}, sum without (priority) (rate({which}[$__rate_interval])))"
        yield graph(title, Target(expr, PORT), unit="percentunit", help="Share of time; an alert fires at 10 %.")
    yield port_rate("Packets out of sequence", "clustergen_roce_out_of_sequence_packets_total")
    yield port_rate("Missing acknowledgements", "clustergen_roce_ack_timeouts_total")
    yield port_rate(
        "Packets without a buffer", "clustergen_roce_out_of_buffer_drops_total", "The node receives too slowly."
    )
    yield links_lost()
