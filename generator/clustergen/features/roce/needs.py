"""Contributions of RoCE to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Exported, PortErrors
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.cluster.networks import Roce

TEXTFILE = "roce.prom"
METRICS = tuple(
    f"clustergen_roce_{name}_total"
    for name in (
        "out_of_sequence_packets", "packet_sequence_errors", "ack_timeouts", "out_of_buffer_drops",
        "ecn_marked_packets", "cnp_sent", "cnp_handled", "pause_seconds", "pause_frames", "discards",
    )
)  # fmt: skip


def is_exported(cluster: Cluster) -> bool:
    """True if nodes of a RoCE fabric export the counters of their ports."""
    return cluster.has(Roce) and cluster.has(NodeExporter)


def exported(cluster: Cluster) -> Iterator[Exported]:
    if is_exported(cluster):
        yield Exported(METRICS)


def port_errors(cluster: Cluster) -> Iterator[PortErrors]:
    if is_exported(cluster):
        yield PortErrors("Out of sequence", "clustergen_roce_out_of_sequence_packets_total")
        yield PortErrors("Timeouts", "clustergen_roce_ack_timeouts_total")
        yield PortErrors("Without a buffer", "clustergen_roce_out_of_buffer_drops_total")
