"""Monitoring that several features refer to: where Prometheus runs, what it reads how often, thresholds of alerts."""

from __future__ import annotations

import re

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.annotations import Hosts
from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.ground import Metrics
from clustergen.manifest.model import Manifest
from clustergen.records import record

_ARRAY = re.compile("/dev/(md|disk/by-id/md-)")


@record
class Monitoring:
    """Nodes that monitor the others."""

    hosts: Hosts  # that run Prometheus


@record
class NodeExporter(Listener):
    """node_exporter of all nodes."""

    collectors: tuple[str, ...]
    node_down_s: int  # a node that does not answer for so long is down


@record
class Scraping:
    """How often Prometheus reads."""

    interval_s: int  # between two scrapes


@record
class Thresholds:
    """Thresholds of alerts of several features."""

    disk_free_percent: int


@record
class Prometheus(Listener):
    """Prometheus."""

    SECTIONS = ("Monitoring",)


def resolve(manifest: Manifest, cluster: Cluster) -> Monitoring | None:
    hosts = tuple(cluster.hosts("monitoring"))
    return Monitoring(hosts) if hosts and manifest.monitoring.enabled else None


def resolve_scraping(manifest: Manifest, _: Cluster) -> Scraping:
    return Scraping(manifest.monitoring.scrape_interval)


def resolve_thresholds(manifest: Manifest, _: Cluster) -> Thresholds:
    return Thresholds(manifest.monitoring.thresholds.disk_free)


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
