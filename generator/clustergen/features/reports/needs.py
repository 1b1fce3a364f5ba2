"""Contributions of usage reports to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Exported, SafeWriter
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.features.reports.resolved import Reports, is_made

METRICS = (
    "clustergen_usage_gpu_hours",
    "clustergen_usage_cpu_hours",
    "clustergen_usage_failed_gpu_hours",
    "clustergen_usage_jobs",
    "clustergen_usage_state_hours",
    "clustergen_usage_begin_timestamp_seconds",
    "clustergen_usage_end_timestamp_seconds",
)
"""Metrics that the program writes."""


def exported(cluster: Cluster) -> Iterator[Exported]:
    if is_made(cluster) and cluster.has(NodeExporter):
        yield Exported(METRICS)


def writers(_: Reports) -> Iterator[SafeWriter]:
    yield SafeWriter("clustergen-usage-report")
