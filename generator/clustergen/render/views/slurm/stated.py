"""Which rows of Slurm's files the manifest itself asks for, where Slurm's own defaults hold for all else."""

from __future__ import annotations

from clustergen.cluster.features.host import NodeLogins
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.ground import StatedFields
from clustergen.cluster.slurm.jobs import PrivateTmp, Scripts
from clustergen.render.views.slurm.settings import Section
from clustergen.slurmrules.fields import fields_of

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
    if not cluster.slurm.bare:
        return sections
    return [
        Section(part.title, tuple(row for row in part.rows if row.key in _ALWAYS or _stated(cluster, file, row.key)))
        for part in sections
    ]


def _stated(cluster: Cluster, file: str, key: str) -> bool:
    if key == "PrologFlags":  # the prolog before the job, ssh into it, and its own /tmp need them
        return cluster.of(Scripts).prolog or cluster.of(NodeLogins).needs_job or cluster.has(PrivateTmp)
    return any(row.path in cluster.of(StatedFields).names for row in fields_of(file, "", key))
