"""Acceptance as resolved: the benchmarks of its gates."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.acceptance import section as manifest
from clustergen.records import record


@record
class Acceptance:
    """Gates of the finished cluster. `benchmarks`: of further gates, hpcc and ior."""

    benchmarks: tuple[str, ...]


def resolve(section: manifest.Acceptance, _: Cluster) -> Acceptance | None:
    return Acceptance(section.benchmarks) if section.enabled else None


RECORDS = {Acceptance: resolve}
