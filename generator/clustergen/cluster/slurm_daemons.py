"""Slurm's daemons: the role of the nodes that run each, and the port that it listens on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clustergen.catalogue.network import ports

if TYPE_CHECKING:
    from clustergen.cluster.model import Cluster
    from clustergen.manifest.slurm import Daemon

ROLES: dict[str, str] = {
    "slurmctld": "slurm-controller",
    "slurmd": "slurm-compute",
    "slurmdbd": "slurm-accounting",
}


def port(cluster: Cluster, daemon: Daemon) -> int:
    """The manifest's, or Slurm's own."""
    return cluster.manifest.slurm.ports.get(daemon) or ports()[daemon].port
