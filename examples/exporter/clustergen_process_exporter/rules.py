"""Cross-checks of process-exporter."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.rules.monitoring import not_packaged
from clustergen_process_exporter.resolved import ProcessExporter


def exporter_not_packaged(cluster: Cluster) -> Iterator[Finding]:
    if cluster.has(ProcessExporter):
        yield from not_packaged(cluster.with_role("login"), "process", section=("process_exporter",))
