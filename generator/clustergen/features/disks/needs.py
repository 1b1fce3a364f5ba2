"""Contributions of the health of disks to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Exported, PackageOf, SafeWriter
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter

TEXTFILE = "disks.prom"
METRICS = tuple(
    f"clustergen_disk_{name}"
    for name in ("answers", "healthy", "temperature_celsius", "wear_ratio", "spare_ratio", "errors_total")
)
"""What the script writes."""


def is_read(cluster: Cluster) -> bool:
    return cluster.has(NodeExporter) and cluster.of(NodeExporter).smart


def exported(cluster: Cluster) -> Iterator[Exported]:
    if is_read(cluster):
        yield Exported(METRICS)


def writers(cluster: Cluster) -> Iterator[SafeWriter]:
    if is_read(cluster):
        yield SafeWriter("clustergen-disk-metrics")


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("clustergen-disk-metrics.timer", "smartmontools")
