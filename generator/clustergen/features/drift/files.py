"""The timer that compares the machines with the manifest."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import textfile
from clustergen.features.drift.resolved import GROUP, TEXTFILE, Drift
from clustergen.records import copied, record
from clustergen.render.timers import timed

_SCRIPT = "/usr/local/sbin/clustergen-drift"
_STATE = "clustergen-drift"


@record
class Values:
    """The program's. `metrics_file`: empty where no exporter reads it."""

    directory: str
    programs: str
    metrics_file: str


@record
class DriftUnit:
    script: str
    manifest: str
    state: str
    interval: int


def values(cluster: Cluster, os: OperatingSystem, drift: Drift) -> Values:
    return copied(Values, drift, metrics_file=textfile(cluster, os, TEXTFILE))


def unit(_: Cluster, drift: Drift) -> DriftUnit:
    return DriftUnit(_SCRIPT, f"{drift.directory}/manifest.yaml", _STATE, drift.interval_s)


FILES = tuple(timed(GROUP, "drift/clustergen-drift.sh", values, unit))
