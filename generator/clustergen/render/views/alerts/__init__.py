"""Alerting rules by topic: what is wrong, from when on, what it means and what to do.

A topic's function returns None where the cluster has nothing of the kind. The DCGM exporter's list of counters is made
from the fields that these expressions read, so a rule on a counter that nobody exports cannot come about.
"""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.render.views.alerts import (
    backups,
    disks,
    drift,
    expiry,
    fabric,
    gpu,
    kernel,
    logs,
    meta,
    node,
    power,
    probes,
    pull,
    sensors,
    slurm,
    snmp,
    storage,
)
from clustergen.render.views.alerts import cluster as sums
from clustergen.render.views.alerts.model import Topic

_TOPICS = (
    sums,
    gpu,
    node,
    slurm,
    fabric,
    storage,
    kernel,
    disks,
    probes,
    sensors,
    power,
    snmp,
    logs,
    expiry,
    drift,
    pull,
    backups,
    meta,
)


def topics(cluster: Cluster) -> dict[str, Topic]:
    """Rule files by name."""
    return {topic.name: topic for module in _TOPICS if (topic := module.topic(cluster)) is not None}
