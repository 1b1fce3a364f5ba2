"""Contributions of acceptance to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Package
from clustergen.cluster.model import Cluster
from clustergen.features.acceptance.resolved import Acceptance


def packages(cluster: Cluster) -> Iterator[Package]:
    if cluster.has(Acceptance):
        yield Package("slurm_compute", "acceptance")
        yield Package("slurm_controller", "acceptance")
        if "hpcc" in cluster.of(Acceptance).benchmarks:
            yield Package("slurm_compute", "hpcc")
