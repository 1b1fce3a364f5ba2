"""Acceptance as resolved: the benchmarks of its gates."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.acceptance import section as manifest
from clustergen.records import record


@record
class Acceptance:
    """Gates of the finished cluster. `benchmarks`: of further gates, hpcc, ior and resnet."""

    benchmarks: tuple[str, ...]
    python: str | None  # interpreter with PyTorch; None: of the first environment for users that has it, else python3


def resolve(section: manifest.Acceptance, _: Cluster) -> Acceptance | None:
    return Acceptance(section.benchmarks, section.python) if section.enabled else None


RECORDS = {Acceptance: resolve}
