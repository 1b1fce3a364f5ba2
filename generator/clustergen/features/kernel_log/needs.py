"""Contributions of the counters of kernels' logs to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Exported, SafeWriter
from clustergen.cluster.monitoring import NodeExporter

TEXTFILE = "kernel.prom"
METRICS = (
    "clustergen_xid_errors_total",
    "clustergen_xid_last_timestamp_seconds",
    "clustergen_link_down_total",
    "clustergen_cable_events_total",
    "clustergen_kernel_errors_total",
    "clustergen_apply_time_seconds",
)
"""Metrics that the script writes."""


def exported(_: NodeExporter) -> Iterator[Exported]:
    yield Exported(METRICS)


def writers(_: NodeExporter) -> Iterator[SafeWriter]:
    yield SafeWriter("clustergen-kernel-metrics")
