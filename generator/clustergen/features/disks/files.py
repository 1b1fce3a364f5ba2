"""The program that reads the health of disks."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import textfile
from clustergen.features.disks.needs import TEXTFILE
from clustergen.features.disks.resolved import DiskHealth
from clustergen.render.file import Context
from clustergen.render.timers import timed


def values(cluster: Cluster, os: OperatingSystem) -> Context | None:
    """The program's: the file that it writes."""
    return {"metrics_file": textfile(cluster, os, TEXTFILE)} if cluster.has(DiskHealth) else None


FILES = tuple(timed("all", "metrics/clustergen-disk-metrics.py", values))
