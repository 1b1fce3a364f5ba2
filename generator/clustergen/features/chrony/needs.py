"""Contributions of chrony to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.network import ports
from clustergen.cluster.contributions import Daemon, PackageOf, Service
from clustergen.cluster.model import Cluster
from clustergen.features.chrony.resolved import Chrony


def daemons(_: Chrony) -> Iterator[Daemon]:
    row = ports()["chrony"]
    yield Daemon(row.port, None, "chrony", "slurm_controller", protocols=row.protocols)


def services(_: Chrony) -> Iterator[Service]:
    yield Service("all", "chronyd?", "chrony_unit")


def packages(_: Cluster) -> Iterator[PackageOf]:
    """The unit has two names."""
    yield PackageOf("chrony.service", "chrony")
    yield PackageOf("chronyd.service", "chrony")
