"""Backups of Slurm as resolved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from clustergen.cluster.model import Cluster
from clustergen.features.backups import section as manifest
from clustergen.records import record

Kind = Literal["database", "state"]
TEXTFILE = "clustergen-backup-{kind}.prom"
"""With metrics of a kind, for the node exporter."""
EXAMPLE = "/backup/slurm"


@record
class Backups:
    """Regular backups."""

    directory: str
    periods: Mapping[Kind, str]  # hour or day, of each kind that this cluster has something to back up of
    keep_days: int


def resolve(section: manifest.Backups, cluster: Cluster) -> Backups:
    periods: dict[Kind, str] = {}
    if cluster.slurm.accounting_hosts:
        periods["database"] = section.database
    if cluster.slurm.controllers:
        periods["state"] = section.state
    return Backups(section.directory.rstrip("/"), periods, section.keep_days)


RECORDS = {Backups: resolve}
