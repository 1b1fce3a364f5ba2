"""Jobs that spread over racks by Slurm's Weight."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.jobs import Resources
from clustergen.cluster.slurm.keys.nodes import spread_ranks, spread_step, stated_weight
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.manifest.hardware import MOST_WEIGHT

REQUIRES = "slurm"


def racks_not_spread(cluster: Cluster) -> Iterator[Finding]:
    """Jobs spread by Slurm's Weight, which needs nodes in two racks and room for the ranks."""
    ranks = spread_ranks(cluster)
    path: ManifestPath = ("slurm", "resources", "spread_racks")
    if not cluster.of(Resources).spread_racks:
        return
    racks = [rack.name for rack in cluster.racks if not ranks.keys().isdisjoint(rack.hosts)]
    if len(racks) < 2:
        yield Finding(
            "racks-not-spread",
            path,
            f"spread_racks has no effect: compute nodes are in {f'rack {racks[0]} alone' if racks else 'no rack'}",
            "list the nodes in racks, or remove spread_racks",
            key=True,
        )
    largest = max((stated_weight(group) or 0 for group in cluster.compute), default=0)
    if largest * spread_step(cluster) > MOST_WEIGHT:
        yield Finding(
            "racks-not-spread",
            path,
            f"the weight {largest} leaves no room for the order in a rack: Slurm's largest is {MOST_WEIGHT}",
            f"write weights up to {MOST_WEIGHT // spread_step(cluster)}",
        )
