"""Samples of Prometheus as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.manifest import monitoring as manifest
from clustergen.records import copied, record
from clustergen.units import Bytes, Duration


@record
class Samples:
    """How long Prometheus keeps samples, at most how many bytes, and who else receives them."""

    SECTIONS = ("Monitoring",)
    retention: Duration
    retention_size: Bytes | None
    remote_write: tuple[str, ...]


def resolve(section: manifest.Monitoring, cluster: Cluster) -> Samples | None:
    return copied(Samples, section) if cluster.has(Monitoring) else None


RECORDS = {Samples: resolve}
