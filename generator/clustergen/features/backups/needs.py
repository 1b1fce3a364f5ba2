"""Contributions of backups to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Package, Requisite, Use, WrittenPath
from clustergen.cluster.model import Cluster
from clustergen.features.backups.resolved import EXAMPLE, Backups

_WRITERS = ("slurm-accounting", "slurm-controller")


def requisites(cluster: Cluster, backups: Backups) -> Iterator[Requisite]:
    owner = f"{backups.directory}, mode 0700, of {cluster.slurm.user}"
    yield Requisite("directory of backups", ("slurm_accounting", "slurm_controller"), owner)


def packages(_: Backups) -> Iterator[Package]:
    yield Package("slurm_accounting", "mariadb_client")


def paths(cluster: Cluster) -> Iterator[WrittenPath]:
    for role in _WRITERS if cluster.has(Backups) else ():
        use = Use("the directory of backups", EXAMPLE, "the backups would be lost with it", role=role)
        yield WrittenPath(("backups", "directory"), cluster.of(Backups).directory, use)
