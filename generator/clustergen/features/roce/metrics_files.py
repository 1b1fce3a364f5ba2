"""Counters of RoCE ports, which a program of ours exports."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import textfile
from clustergen.features.roce.needs import TEXTFILE, is_exported
from clustergen.render.file import Context
from clustergen.render.timers import timed


def values(cluster: Cluster, os: OperatingSystem) -> Context | None:
    """The program's: the file that it writes."""
    return {"metrics_file": textfile(cluster, os, TEXTFILE)} if is_exported(cluster) else None


FILES = tuple(timed("fabric_node", "metrics/clustergen-roce-metrics.sh", values))
