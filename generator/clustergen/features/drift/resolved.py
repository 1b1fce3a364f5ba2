"""The timer that compares the machines with the manifest, as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.slurm.model import Slurm
from clustergen.features.drift import section as manifest
from clustergen.records import copied, record

GROUP = "drift_host"
TEXTFILE = "clustergen-drift.prom"
"""With metrics of the last comparison, for the node exporter."""


@record
class Drift:
    """`directory`, `programs`: on its host, of the manifest and its tree, and of clustergen and Ansible."""

    interval_s: int
    directory: str
    programs: str


def resolve(section: manifest.Drift, _: Cluster) -> Drift | None:
    return copied(Drift, section, interval_s=section.interval) if section.enabled else None


def hosting(cluster: Cluster) -> tuple[NodeGroup, ...]:
    """The controllers, or in a cluster without Slurm the monitoring nodes; those without the manifest do nothing."""
    return cluster.with_role("slurm-controller" if cluster.has(Slurm) else "monitoring")


RECORDS = {Drift: resolve}
