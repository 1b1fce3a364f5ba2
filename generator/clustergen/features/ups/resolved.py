"""UPS that shut nodes down, as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.features.ups import section as manifest
from clustergen.hostlist import expand
from clustergen.manifest.stated import stated_at
from clustergen.records import record

_CLIENTS = {"slurm-compute", "login"}
"""Roles of nodes that nobody else depends on: they stop first."""


@record
class UpsDevice:
    """A UPS."""

    driver: str  # of NUT
    address: str | None  # None: it is at the server's USB
    feeds: tuple[str, ...]  # hosts


@record
class UpsShutdown(Listener):
    """Shutdown by UPS."""

    port: int  # of upsd, TCP
    server: str  # host that asks them, and stops last
    after_s: int  # on battery, until nodes are shut down
    grace_s: int  # from the order to the shutdown of compute nodes
    devices: Mapping[str, UpsDevice]  # by name

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
        section.port,
        stated_at(section, "ups", "port"),
        server,
        section.after,
        section.grace,
        {
            name: UpsDevice(device.driver, device.address, tuple(expand(device.feeds)))
            for name, device in section.devices.items()
        },
    )


RECORDS = {UpsShutdown: resolve}
