"""Names of metrics that alerts and dashboards may use."""

from functools import cache
from typing import NamedTuple

from clustergen.catalogue.tables import rows, words


class SlurmMetric(NamedTuple):
    """One metric that slurmctld serves itself, from 25.11 on; all are gauges."""

    metric: str
    endpoint: str
    labels: tuple[str, ...]


class NodeMetric(NamedTuple):
    """One metric of the node exporter, and the collector that has to be on."""

    metric: str
    kind: str
    collector: str


@cache
def slurm_metrics() -> dict[str, SlurmMetric]:
    """All metrics of slurmctld by name."""
    return {r["metric"]: SlurmMetric(r["metric"], r["endpoint"], words(r["labels"])) for r in rows("slurm_metrics.tsv")}


@cache
def slurm_endpoints() -> tuple[str, ...]:
    """The paths to scrape, one Prometheus job each."""
    return tuple(dict.fromkeys(metric.endpoint for metric in slurm_metrics().values()))


@cache
def node_metrics() -> dict[str, NodeMetric]:
    """The metrics of the node exporter that are in use here, by name."""
    return {r["metric"]: NodeMetric(r["metric"], r["kind"], r["collector"]) for r in rows("node_metrics.tsv")}
