"""Alerting rules by topic: what is wrong, from when on, what it means and what to do.

A topic's function returns None where the cluster has nothing of the kind. The DCGM exporter's list of counters is made
from the fields that these expressions read, so a rule on a counter that nobody exports cannot come about.
"""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.discovery import modules_of
from clustergen.render.views.alerts.model import Topic

_FIRST = (
    "cluster", "gpu", "node", "slurm", "fabric", "storage", "kernel", "disks", "probes", "sensors", "power", "snmp",
    "logs", "expiry", "drift", "pull", "backups", "meta",
)  # fmt: skip
"""The order of the page of runbooks; other topics follow by name."""


def topics(cluster: Cluster) -> dict[str, Topic]:
    """Rule files by name: what `topic` of each module of this package returns for the cluster."""
    modules = modules_of(__name__, "topic", _FIRST)
    return {topic.name: topic for module in modules if (topic := module.topic(cluster)) is not None}
