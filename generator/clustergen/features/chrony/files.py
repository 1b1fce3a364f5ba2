"""chrony: the controllers ask the outside, all others the controllers, so that all agree. Without Slurm all ask the
outside, be it by the distribution's own configuration.
"""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.model import Slurm
from clustergen.features.chrony.resolved import Chrony
from clustergen.records import record
from clustergen.render.arguments import restarts
from clustergen.render.file import File


@record
class Clock:
    """chrony.conf of all nodes."""

    servers: tuple[str, ...]  # of the cluster
    outside: tuple[str, ...]  # where the cluster has none of its own
    unit: str


@record
class ClockServer:
    """The controllers' further settings of the clock."""

    outside: tuple[str, ...]
    clients: tuple[str, ...]  # networks; empty: everybody
    unit: str


def clock(cluster: Cluster, os: OperatingSystem, chrony: Chrony) -> Clock | None:
    unit = os.fact("chrony_unit")
    if not cluster.has(Slurm):
        return Clock((), ntp, unit) if (ntp := chrony.ntp) else None
    return Clock(cluster.slurm.controllers if cluster.host_count > 1 else (), (), unit)


def clock_server(cluster: Cluster, os: OperatingSystem, chrony: Chrony) -> ClockServer:
    management = cluster.networks.management
    clients = (management.cidr,) if management.cidr and cluster.host_count > 1 else ()
    return ClockServer(chrony.ntp, clients, os.fact("chrony_unit"))


FILES = (
    File("all/{os.chrony_conf}", clock, restarts, per="os", source="all/etc/chrony/chrony.conf"),
    File("slurm_controller/etc/chrony/conf.d/50-clustergen.conf", clock_server, restarts, per="os"),
)
