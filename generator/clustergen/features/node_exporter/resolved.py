"""node_exporter, as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring, NodeExporter
from clustergen.manifest import monitoring as manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import copied


def resolve(section: manifest.Monitoring, _: Cluster, __: Monitoring) -> NodeExporter | None:
    exporter = section.node_exporter
    if not exporter.enabled:
        return None
    port_at = stated_at(exporter, "monitoring", "node_exporter", "port")
    return copied(NodeExporter, exporter, port_at=port_at, node_down_s=section.thresholds.node_down)


RECORDS = {NodeExporter: resolve}
