"""The health of disks, as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.manifest.monitoring import Monitoring
from clustergen.records import record


@record
class DiskHealth:
    """smartctl reads the health of local disks. Absent: nothing does."""


def resolve(section: Monitoring, cluster: Cluster) -> DiskHealth | None:
    return DiskHealth() if section.smart and cluster.has(NodeExporter) else None


RECORDS = {DiskHealth: resolve}
