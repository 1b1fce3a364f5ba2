"""Names of metrics that alerts and dashboards may use."""

from __future__ import annotations

from clustergen.catalogue.tables import keyed
from clustergen.records import record

NODE_STATES = {
    "alloc": "allocated",
    "mixed": "mixed",
    "idle": "idle",
    "drain": "drained",
    "down": "down",
    "fail": "failing",
    "maint": "maintenance",
    "noresp": "not responding",
    "invalid_reg": "invalid",
}
"""State of a node in Slurm's metrics → its name for readers."""
PARTITION_STATES = tuple(NODE_STATES)[:5]
"""States by which metrics of a partition count its nodes."""


@record
class SlurmMetric:
    """One metric that slurmctld serves itself, from 25.11 on; all are gauges."""

    metric: str
    endpoint: str
    labels: tuple[str, ...]


@record
class NodeMetric:
    """One metric of the node exporter, and the collector that has to be on."""

    metric: str
    kind: str
    collector: str


@record
class SelfMetric:
    """One metric that Prometheus or Alertmanager serves about itself, or Prometheus adds to each scrape."""

    metric: str
    program: str


self_metrics = keyed("self_metrics.tsv", SelfMetric, lambda row: row.metric)
"""The metrics of Prometheus and Alertmanager that are in use here, by name."""
slurm_metrics = keyed("slurm_metrics.tsv", SlurmMetric, lambda row: row.metric)
"""All metrics of slurmctld by name."""
node_metrics = keyed("node_metrics.tsv", NodeMetric, lambda row: row.metric)
"""The metrics of the node exporter that are in use here, by name."""
