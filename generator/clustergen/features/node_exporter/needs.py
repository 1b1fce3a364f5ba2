"""Contributions of the node exporter to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.metrics import node_metrics
from clustergen.cluster.contributions import Daemon, Exported, PackageOf, ScrapeJob
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter, has_arrays, has_collector, has_pools, static

_HARDWARE = {"edac", "hwmon", "mdadm"}  # what some machines lack


def daemons(exporter: NodeExporter) -> Iterator[Daemon]:
    yield Daemon(exporter.port, exporter.port_at, "node exporter", "all")


def scrape_jobs(cluster: Cluster, node_exporter: NodeExporter) -> Iterator[ScrapeJob]:
    yield ScrapeJob("node", static(cluster.groups), node_exporter.port)


def exported(cluster: Cluster, _: NodeExporter) -> Iterator[Exported]:
    missing = _missing_collectors(cluster)
    yield Exported(tuple(name for name, metric in node_metrics().items() if metric.collector not in missing))


def _missing_collectors(cluster: Cluster) -> set[str]:
    """Collectors of the node exporter that are off, or find nothing to read on any node."""
    enabled = set(cluster.of(NodeExporter).collectors)
    missing = {"mountstats"} | _HARDWARE
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type == "ethernet":
        missing.add("infiniband")
    if not has_collector(cluster, "nfs"):
        missing.add("nfs")
    if not has_pools(cluster):
        missing.add("zfs")
    if has_arrays(cluster):
        missing.remove("mdadm")
    return missing - enabled


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("prometheus-node-exporter.service", "node_exporter")
