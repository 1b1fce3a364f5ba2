"""The program on the controllers that asks Slurm what it does not export itself."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import own_endpoint, textfile
from clustergen.cluster.slurm.keys.table import switches_nodes_off
from clustergen.features.slurm_metrics.needs import TEXTFILE
from clustergen.records import record
from clustergen.render.timers import timed


@record
class Values:
    """The program's: the file that it writes.

    `counts`: slurmctld itself does not count jobs and nodes. `power_saving`: it switches nodes off.
    """

    metrics_file: str
    counts: bool
    power_saving: bool


def values(cluster: Cluster, os: OperatingSystem) -> Values | None:
    file = textfile(cluster, os, TEXTFILE)
    return Values(file, not own_endpoint(cluster), switches_nodes_off(cluster)) if file else None


FILES = tuple(timed("slurm_controller", "slurm/clustergen-slurm-metrics.sh", values))
