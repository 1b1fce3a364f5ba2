"""Contributions of slurmdbd and its database to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.network import ports
from clustergen.cluster.contributions import Daemon, PackageOf, Unit, Value, Variables
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting

_GROUP = "slurm_accounting"


def daemons(cluster: Cluster) -> Iterator[Daemon]:
    if cluster.of(Accounting).database_is_local:
        yield Daemon(ports()["mariadb"].port, None, "MariaDB", _GROUP, None)


def units(cluster: Cluster) -> Iterator[Unit]:
    if cluster.of(Accounting).database_is_local:
        yield Unit(_GROUP, "mariadb.service")
    yield Unit(_GROUP, "slurmdbd.service")


def packages_of(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("mariadb.service", "mariadb")
    yield PackageOf("slurmdbd.service", "slurmdbd")


def variables(cluster: Cluster) -> Iterator[Variables]:
    accounting = cluster.of(Accounting)
    port = f":{accounting.database_port}" if accounting.database_port else ""
    if cluster.slurm.accounting_hosts:
        values: dict[str, Value] = {
            "slurm_database_host": f"{accounting.database_host}{port}",
            "slurm_database_name": accounting.database_name,
            "slurm_database_user": accounting.database_user,
        }
        yield Variables("Slurm", values)
