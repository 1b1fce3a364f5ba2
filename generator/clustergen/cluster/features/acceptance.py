"""Acceptance as resolved: the benchmarks of its gates."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.manifest.model import Manifest
from clustergen.records import record


@record
class Acceptance:
    """Gates of the finished cluster. `benchmarks`: of further gates, hpcc and ior."""

    benchmarks: tuple[str, ...]


def resolve(manifest: Manifest, _: Cluster) -> Acceptance | None:
    section = manifest.acceptance
    return Acceptance(section.benchmarks) if section.enabled else None
