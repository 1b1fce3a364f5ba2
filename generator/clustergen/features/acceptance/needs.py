"""Contributions of acceptance to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Package
from clustergen.features.acceptance.resolved import Acceptance


def packages(acceptance: Acceptance) -> Iterator[Package]:
    yield Package("slurm_compute", "acceptance")
    yield Package("slurm_controller", "acceptance")
    if "hpcc" in acceptance.benchmarks:
        yield Package("slurm_compute", "hpcc")
