"""Probes from outside."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.features.blackbox.resolved import Blackbox
from clustergen.rules.monitoring import not_packaged


def exporter_not_packaged(cluster: Cluster) -> Iterator[Finding]:
    if cluster.has(Blackbox):
        yield from not_packaged(cluster.with_role("monitoring"), "blackbox")
