"""Which rows of Slurm's files the manifest itself asks for, where Slurm's own defaults hold for all else."""

from __future__ import annotations

from pydantic import BaseModel

from clustergen.cluster.model import Cluster
from clustergen.render.views.slurm.settings import Section
from clustergen.rules.slurm_managed import FIELDS

_MORE = {
    "MpiDefault": "slurm.mpi_default",
    "LaunchParameters": "slurm.interactive_step",
    "SlurmctldParameters": "slurm.configless",
    "JobAcctGatherFrequency": "slurm.accounting.gather_frequency",
    "DbdPort": "slurm.ports.slurmdbd",
}
"""Keys that an option may hold too, and so are not among those of the fields."""
# What follows from nodes and roles, or is switched by a field of its own.
_ALWAYS = frozenset(
    (
        *("ClusterName", "SlurmctldHost", "SlurmUser", "DbdHost", "DbdBackupHost", "StorageType"),
        *("AccountingStorageType", "AccountingStorageHost", "AccountingStorageBackupHost", "SlurmdParameters"),
        "GresTypes",
        *("Prolog", "Epilog", "TaskProlog"),
        *("HealthCheckProgram", "HealthCheckInterval", "HealthCheckNodeState", "HealthCheckTimeout"),
    )
)


def as_stated(cluster: Cluster, file: str, sections: list[Section]) -> list[Section]:
    """All sections, or in a bare cluster those rows that the manifest gives or that its nodes ask for."""
    if not cluster.bare:
        return sections
    return [
        Section(part.title, tuple(row for row in part.rows if row.key in _ALWAYS or _stated(cluster, file, row.key)))
        for part in sections
    ]


def _stated(cluster: Cluster, file: str, key: str) -> bool:
    if key == "PrologFlags":  # the prolog before the job, and ssh into it, need them
        return cluster.manifest.slurm.scripts.prolog or cluster.manifest.host.ssh_adopt
    field = _MORE.get(key) or FIELDS.get((file, ""), {}).get(key, "")
    return is_stated(cluster, field.partition(",")[0])


def is_stated(cluster: Cluster, field: str) -> bool:
    """Whether the manifest has that field (`slurm.priority.weights.age`), be it with the value of the default."""
    here: object = cluster.manifest
    for name in field.split("."):
        if isinstance(here, BaseModel):
            if name not in here.model_fields_set:
                return False
            here = getattr(here, name)
        elif not isinstance(here, dict) or name not in here:
            return False
    return bool(field)
