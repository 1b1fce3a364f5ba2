"""The time zone; and chrony: the controllers ask the outside, all others the controllers, so that all agree."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.records import record


@record
class Clock:
    """chrony.conf of all nodes."""

    servers: tuple[str, ...]
    unit: str


@record
class ClockServer:
    """The controllers' further settings of the clock."""

    outside: tuple[str, ...]
    clients: tuple[str, ...]  # networks; empty: everybody
    unit: str


@record
class TimeZone:
    """Lines of tmpfiles.d."""

    name: str


def _is_enabled(cluster: Cluster) -> bool:
    """A single machine without time servers of its own keeps what its distribution has set up."""
    return cluster.manifest.host.chrony and (cluster.host_count > 1 or bool(cluster.manifest.networks.management.ntp))


def clock(cluster: Cluster, os: OperatingSystem) -> Clock | None:
    if not _is_enabled(cluster):
        return None
    return Clock(cluster.controllers if cluster.host_count > 1 else (), os.fact("chrony_unit"))


def clock_server(cluster: Cluster, os: OperatingSystem) -> ClockServer | None:
    if not _is_enabled(cluster):
        return None
    management = cluster.manifest.networks.management
    clients = (management.cidr,) if management.cidr and cluster.host_count > 1 else ()
    return ClockServer(management.ntp, clients, os.fact("chrony_unit"))


def timezone(cluster: Cluster) -> TimeZone | None:
    name = cluster.manifest.host.timezone
    return TimeZone(name) if name else None
