"""Prometheus: the hosts that run it, and where programs of nodes write metrics for it."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.annotations import Hosts
from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster
from clustergen.manifest.model import Manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import copied, record


@record
class Monitoring:
    """The hosts that run Prometheus."""

    hosts: Hosts


@record
class NodeExporter(Listener):
    """node_exporter of all nodes. `smart`: it serves the health of local disks."""

    collectors: tuple[str, ...]
    smart: bool


def resolve(manifest: Manifest, cluster: Cluster) -> Monitoring | None:
    hosts = tuple(cluster.hosts("monitoring"))
    return Monitoring(hosts) if hosts and manifest.monitoring.enabled else None


def resolve_node_exporter(manifest: Manifest, cluster: Cluster) -> NodeExporter | None:
    section = manifest.monitoring.node_exporter
    if not cluster.has(Monitoring) or not section.enabled:
        return None
    port_at = stated_at(section, "monitoring", "node_exporter", "port")
    return copied(NodeExporter, section, port_at=port_at, smart=manifest.monitoring.smart)


def textfile(cluster: Cluster, os: OperatingSystem, name: str) -> str:
    """Path of a file whose metrics the node exporter serves; empty where there is none."""
    return f"{os.fact('node_exporter_textfile_dir')}/{name}" if cluster.has(NodeExporter) else ""
