"""The timer that compares machines with the manifest: a host that runs it."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.model import Slurm
from clustergen.diagnostics import Finding
from clustergen.features.drift.resolved import Drift, hosting


def slurm_absent(cluster: Cluster) -> Iterator[Finding]:
    if cluster.has(Drift) and not cluster.has(Slurm) and not hosting(cluster):
        yield Finding(
            "slurm-absent",
            ("drift",),
            "drift runs on controllers, or on monitoring nodes without Slurm, and the cluster has neither",
            "give a node the role monitoring, or remove drift",
            key=True,
        )
