"""Contributions of dates to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Certificate, Exported
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter

METRIC = "clustergen_certificate_expiry_timestamp_seconds"


def reads_certificates(cluster: Cluster) -> bool:
    return cluster.has(NodeExporter) and bool(cluster.needs(Certificate))


def exported(cluster: Cluster) -> Iterator[Exported]:
    if reads_certificates(cluster):
        yield Exported((METRIC,))
