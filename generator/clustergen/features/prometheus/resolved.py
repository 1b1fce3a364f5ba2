"""Prometheus, as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring, Prometheus
from clustergen.manifest import monitoring as manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import copied, record
from clustergen.units import Bytes, Duration


@record
class Samples:
    """Whose samples Prometheus has, how long it keeps them, at most how many bytes, and who else receives them."""

    SECTIONS = ("Monitoring",)
    labels: Mapping[str, str]  # of this cluster
    targets: Mapping[str, tuple[str, ...]]  # the site's own, by job
    retention: Duration
    retention_size: Bytes | None
    remote_write: tuple[str, ...]


def resolve(section: manifest.Monitoring, _: Cluster, __: Monitoring) -> Prometheus:
    return Prometheus(section.port, stated_at(section, "monitoring", "port"))


def resolve_samples(section: manifest.Monitoring, cluster: Cluster, _: Monitoring) -> Samples:
    return copied(Samples, section, labels={"cluster": cluster.name} | section.labels)


RECORDS = {Prometheus: resolve, Samples: resolve_samples}
