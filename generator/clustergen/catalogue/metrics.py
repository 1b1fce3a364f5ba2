"""Names of metrics that alerts and dashboards may use."""

from __future__ import annotations

from functools import cache

from clustergen.catalogue.tables import table
from clustergen.records import record


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


@cache
def self_metrics() -> dict[str, SelfMetric]:
    """The metrics of Prometheus and Alertmanager that are in use here, by name."""
    return {metric.metric: metric for metric in table("self_metrics.tsv", SelfMetric)}


@cache
def slurm_metrics() -> dict[str, SlurmMetric]:
    """All metrics of slurmctld by name."""
    return {metric.metric: metric for metric in table("slurm_metrics.tsv", SlurmMetric)}


@cache
def node_metrics() -> dict[str, NodeMetric]:
    """The metrics of the node exporter that are in use here, by name."""
    return {metric.metric: metric for metric in table("node_metrics.tsv", NodeMetric)}
