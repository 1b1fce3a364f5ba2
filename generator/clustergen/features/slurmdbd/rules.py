"""Accounting: slurmdbd and its database, and settings that have no effect."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.features.slurmdbd.section import Accounting
from clustergen.rules.unused import unused

_DATABASE = ("database_host", "database_name", "database_user", "password", "purge", "options")
_RECORDS = ("enforce", "store")


def accounting(cluster: Cluster, section: Accounting) -> Iterator[Finding]:
    hosts = cluster.slurm.accounting_hosts
    groups = cluster.with_role("slurm-accounting")
    if len(hosts) > 2:
        yield Finding(
            "accounting-too-many",
            ("nodes", groups[-1].index, "roles"),
            f"{len(hosts)} nodes have the role slurm-accounting; slurmdbd runs on a primary and at most one backup",
            "keep the role on at most two nodes",
        )
    if len(hosts) == 2 and section.database_host == "localhost":
        yield Finding(
            "database-not-shared",
            ("slurm", "accounting", "database_host")
            if "database_host" in section.model_fields_set
            else ("nodes", groups[-1].index, "roles"),
            "two slurmdbd with a local database each would keep separate accounting records",
            "set slurm: {accounting: {database_host: …}} to a host that both can reach",
        )
    if hosts and section.slurmdbd:
        yield Finding(
            "accounting-too-many",
            ("slurm", "accounting", "slurmdbd"),
            f"{hosts[0]} has the role slurm-accounting, and slurmdbd of another cluster is stated too",
            "remove one of the two",
        )


def unused_settings(cluster: Cluster, section: Accounting) -> Iterator[Finding]:
    path: ManifestPath = ("slurm", "accounting")
    hint = "add the role slurm-accounting to a node"
    if not cluster.slurm.accounting_hosts:
        yield from unused(section, path, _DATABASE, "slurmdbd runs on no node of this cluster", hint)
    if not cluster.slurm.slurmdbd_hosts and not cluster.slurm.bare:
        yield from unused(section, path, _RECORDS, "the cluster has no slurmdbd", hint)
