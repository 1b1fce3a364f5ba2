"""Monitoring that several features refer to: where Prometheus runs, what it reads how often, thresholds of alerts."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.annotations import Hosts
from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.ground import Metrics
from clustergen.manifest.model import Manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import copied, record

_ARRAY = re.compile("/dev/(md|disk/by-id/md-)")


@record
class Monitoring:
    """Nodes that monitor the others."""

    hosts: Hosts  # that run Prometheus


@record
class NodeExporter(Listener):
    """node_exporter of all nodes."""

    collectors: tuple[str, ...]
    smart: bool  # it serves the health of local disks


@record
class Scraping:
    """How often Prometheus reads."""

    interval_s: int  # between two scrapes
    slowest_s: int  # between two samples of the exporter that samples least often


@record
class Thresholds:
    """Thresholds of alerts."""

    gpu_hot_c: int | None  # None where each GPU model has its own
    gpu_very_hot_c: int | None  # None where each GPU model has its own
    disk_free_percent: int
    node_down_s: int
    throttled: float  # share of time


@record
class Prometheus(Listener):
    """Prometheus."""

    SECTIONS = ("Monitoring",)
    labels: Mapping[str, str]  # of this cluster
    targets: Mapping[str, tuple[str, ...]]  # the site's own, by job


def resolve(manifest: Manifest, cluster: Cluster) -> Monitoring | None:
    hosts = tuple(cluster.hosts("monitoring"))
    return Monitoring(hosts) if hosts and manifest.monitoring.enabled else None


def resolve_node_exporter(manifest: Manifest, cluster: Cluster) -> NodeExporter | None:
    section = manifest.monitoring.node_exporter
    if not cluster.has(Monitoring) or not section.enabled:
        return None
    port_at = stated_at(section, "monitoring", "node_exporter", "port")
    return copied(NodeExporter, section, port_at=port_at, smart=manifest.monitoring.smart)


def resolve_scraping(manifest: Manifest, cluster: Cluster) -> Scraping:
    interval_s = manifest.monitoring.scrape_interval
    slowest_ms = manifest.monitoring.dcgm.interval if cluster.gpu_types else 0
    return Scraping(interval_s, max(interval_s, -(-slowest_ms // 1000)))


def resolve_thresholds(manifest: Manifest, _: Cluster) -> Thresholds:
    section = manifest.monitoring.thresholds
    return Thresholds(section.gpu_hot, section.gpu_very_hot, section.disk_free, section.node_down, section.throttled)


def resolve_prometheus(manifest: Manifest, cluster: Cluster) -> Prometheus | None:
    section = manifest.monitoring
    if not cluster.has(Monitoring):
        return None
    labels = {"cluster": cluster.name} | section.labels
    return copied(Prometheus, section, port_at=stated_at(section, "monitoring", "port"), labels=labels)


def static(groups: tuple[NodeGroup, ...]) -> tuple[NodeGroup, ...]:
    """Without nodes of a cloud and of the future: while they are down, an alert for each would be false."""
    return tuple(group for group in groups if not group.is_dynamic)


def bmc_groups(cluster: Cluster) -> tuple[NodeGroup, ...]:
    """Entries of the manifest whose nodes have a BMC with an address."""
    return tuple(group for group in static(cluster.groups) if group.bmc)


def textfile(cluster: Cluster, os: OperatingSystem, name: str) -> str:
    """Path of a file whose metrics the node exporter serves; empty where there is none."""
    return f"{os.fact('node_exporter_textfile_dir')}/{name}" if cluster.has(NodeExporter) else ""


def own_endpoint(cluster: Cluster) -> bool:
    """True if slurmctld serves metrics that Prometheus may read: with PrivateData it asks for a token."""
    return cluster.has(Metrics) and not cluster.of(Accounting).private


def has_pools(cluster: Cluster) -> bool:
    """True if servers have ZFS pools, or the manifest asks for their collector."""
    return "zfs" in cluster.of(NodeExporter).collectors or has_collector(cluster, "zfs")


def has_collector(cluster: Cluster, name: str) -> bool:
    """True if a collector of the node exporter has something to read of an entry."""
    return any(name in entry.collectors() for entry in cluster.storage.values())


def has_arrays(cluster: Cluster) -> bool:
    """True if the manifest names a device of a software RAID, or asks for the collector."""
    devices = (device for entry in cluster.storage.values() for device in entry.devices)
    return "mdadm" in cluster.of(NodeExporter).collectors or any(map(_ARRAY.match, devices))
