"""Contributions of Lustre to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.network import ports
from clustergen.cluster.contributions import Daemon, Package, Service
from clustergen.cluster.model import Cluster
from clustergen.features.storage.lustre.resolved import FILE_SYSTEM


def daemons(_: Cluster) -> Iterator[Daemon]:
    yield Daemon(ports()["lustre"].port, None, "lustre", "lnet_router")


def packages(_: Cluster) -> Iterator[Package]:
    for purpose in FILE_SYSTEM.packages:
        yield Package("lnet_router", purpose)


def services(_: Cluster) -> Iterator[Service]:
    for group in ("lustre_client", "lustre_server", "lnet_router"):
        yield Service(group, "lnet")
