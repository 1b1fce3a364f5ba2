"""Backups of Slurm."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.system_paths import is_below, plain
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.features.backups.resolved import EXAMPLE, Backups


def backups_in_state(cluster: Cluster) -> Iterator[Finding]:
    state = plain(cluster.slurm.state_location)
    if cluster.has(Backups) and is_below(plain(cluster.of(Backups).directory), state):
        message = f"backups are in {state}, which they copy: each would contain all earlier ones"
        yield Finding("path-overlap", ("backups", "directory"), message, f"write a path of its own, such as {EXAMPLE}")
