"""UPS that shut nodes down, as resolved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.features.ups import section as manifest
from clustergen.hostlist import expand
from clustergen.manifest.stated import stated_at
from clustergen.records import copied, record

_CLIENTS = {"slurm-compute", "login"}
"""Roles of nodes that nobody else depends on: they stop first."""


@record
class SnmpUser:
    """An account of SNMP version 3."""

    user: str
    authentication: str  # protocol
    privacy: str  # protocol


@record
class UpsDevice:
    """A UPS."""

    driver: str  # of NUT
    address: str | None  # None: it is at the server's USB
    snmp: SnmpUser | None  # None: a community
    feeds: tuple[str, ...]  # hosts


@record
class UpsShutdown(Listener):
    """Shutdown by UPS."""

    port: int  # of upsd, TCP
    server: str  # host that asks them, and stops last
    after_s: int  # on battery, until nodes are shut down
    grace_s: int  # from the order to the shutdown of compute nodes
    devices: Mapping[str, UpsDevice]  # by name
    minimum: Mapping[str, int]  # host → UPS that it needs of those that feed it, where it is more than one

    def fed(self) -> set[str]:
        return {host for device in self.devices.values() for host in device.feeds}


def server_group(cluster: Cluster) -> tuple[NodeGroup, ...]:
    server = cluster.of(UpsShutdown).server
    return tuple(group for group in cluster.groups if server in group.hosts)


def fed_groups(cluster: Cluster, *, clients: bool) -> tuple[NodeGroup, ...]:
    """Groups with a node that a UPS feeds, without the server: compute and login nodes, or the services of others."""
    fed, server = cluster.of(UpsShutdown).fed(), server_group(cluster)
    groups = (group for group in cluster.groups if group not in server and not fed.isdisjoint(group.hosts))
    return tuple(group for group in groups if (_CLIENTS.issuperset(group.roles)) == clients)


def resolve(section: manifest.Ups, cluster: Cluster) -> UpsShutdown:
    server = section.server or (cluster.hosts("slurm-controller") or cluster.hosts())[0]
    return UpsShutdown(
        port=section.port,
        port_at=stated_at(section, "ups", "port"),
        server=server,
        after_s=section.after,
        grace_s=section.grace,
        devices={
            name: UpsDevice(
                device.driver,
                device.address,
                copied(SnmpUser, device.snmp) if device.snmp else None,
                tuple(expand(device.feeds)),
            )
            for name, device in section.devices.items()
        },
        minimum=_minimum(section, cluster),
    )


def _minimum(section: manifest.Ups, cluster: Cluster) -> dict[str, int]:
    """A node whose power supplies are divided among its feeds needs as many feeds as carry those that may not fail.
    Fewer supplies than feeds are behind a transfer switch.
    """
    feeds = Counter(host for device in section.devices.values() for host in expand(device.feeds))
    minimum = {}
    for group in cluster.groups:
        supplies, redundant = group.type.psus or 0, group.type.psus_redundant or 0
        for host in group.hosts if group.type.psus_redundant is not None else ():
            if supplies >= feeds[host] > 0 and (least := -(-(supplies - redundant) * feeds[host] // supplies)) > 1:
                minimum[host] = least
    return minimum


RECORDS = {UpsShutdown: resolve}
