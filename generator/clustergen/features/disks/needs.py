"""Contributions of the health of disks to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Exported, PackageOf, SafeWriter
from clustergen.cluster.model import Cluster
from clustergen.features.disks.resolved import DiskHealth

TEXTFILE = "disks.prom"
METRICS = tuple(
    f"clustergen_disk_{name}"
    for name in ("answers", "healthy", "temperature_celsius", "wear_ratio", "spare_ratio", "errors_total")
)
"""Metrics that the script writes."""


def exported(_: DiskHealth) -> Iterator[Exported]:
    yield Exported(METRICS)


def writers(_: DiskHealth) -> Iterator[SafeWriter]:
    yield SafeWriter("clustergen-disk-metrics")


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("clustergen-disk-metrics.timer", "smartmontools")
