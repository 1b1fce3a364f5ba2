"""Contributions of the shutdown by UPS to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Daemon, DeviceAddress, Group, Package, PackageOf, Secret, Service
from clustergen.cluster.model import Cluster
from clustergen.features.ups.resolved import UpsShutdown, fed_groups, server_group

SERVER, SERVICE, CLIENT = "ups_server", "ups_service", "ups_client"
SECRETS = "/etc/clustergen/nut"
UNIT = "clustergen-ups.service"


def groups(cluster: Cluster, _: UpsShutdown) -> Iterator[Group]:
    yield Group(SERVER, server_group(cluster))
    yield Group(SERVICE, fed_groups(cluster, clients=False))
    yield Group(CLIENT, fed_groups(cluster, clients=True))


def daemons(cluster: Cluster, shutdown: UpsShutdown) -> Iterator[Daemon]:
    yield Daemon(shutdown.port, shutdown.port_at, "upsd", SERVER, members=server_group(cluster))


def addresses(ups_shutdown: UpsShutdown) -> Iterator[DeviceAddress]:
    for name, device in ups_shutdown.devices.items():
        if device.address:
            yield DeviceAddress(name, device.address, ("ups", "devices", name, "address"))


def services(_: UpsShutdown) -> Iterator[Service]:
    """Without them nobody hears that a UPS runs low."""
    yield Service(SERVER, "nut-server")
    yield from (Service(group, "nut-monitor") for group in (SERVER, SERVICE, CLIENT))


def secrets(ups_shutdown: UpsShutdown) -> Iterator[Secret]:
    """NUT accepts neither a file nor the environment for them: clustergen-ups puts them into its files."""
    effect = f"restart:{UNIT}"
    yield Secret(
        "ups-primary", f"{SECRETS}/primary", (SERVER,), owner="root", mode="0400", origin="given", effect=effect
    )
    members = (SERVER, SERVICE, CLIENT)
    yield Secret(
        "ups-secondary", f"{SECRETS}/secondary", members, owner="root", mode="0400", origin="given", effect=effect
    )
    devices = [device for device in ups_shutdown.devices.values() if device.address]
    names = {"ups-snmp": "community"} if any(device.snmp is None for device in devices) else {}
    if any(device.snmp for device in devices):
        names |= {"ups-snmp-authentication": "authentication", "ups-snmp-privacy": "privacy"}
    for name, file in names.items():
        yield Secret(name, f"{SECRETS}/{file}", (SERVER,), owner="root", mode="0400", origin="given", effect=effect)


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("nut-monitor.service", "nut_client")
    yield PackageOf("nut-server.service", "nut_server")


def drivers(ups_shutdown: UpsShutdown) -> Iterator[Package]:
    if any(device.address for device in ups_shutdown.devices.values()):
        yield Package(SERVER, "nut_snmp")
