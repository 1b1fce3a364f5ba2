"""Shutdown by UPS."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.features.ups.resolved import UpsShutdown, server_group
from clustergen.features.ups.section import Ups
from clustergen.hostlist import compress


def devices(cluster: Cluster, section: Ups) -> Iterator[Finding]:
    hosts = set(cluster.hosts())
    resolved = cluster.of(UpsShutdown).devices
    is_redundant = all(hosts == {*device.feeds} for device in resolved.values())
    for name, device in ((name, resolved[name]) for name in section.devices):
        path: ManifestPath = ("ups", "devices", name)
        unknown = [host for host in device.feeds if host not in hosts]
        if unknown:
            yield Finding(
                "node-unknown",
                (*path, "feeds"),
                f"'{compress(unknown)}' {'is not a node' if len(unknown) == 1 else 'are no nodes'}",
                did_you_mean(compress(unknown), hosts) or f"use nodes of {compress(cluster.hosts())}",
            )
        if device.driver == "snmp-ups" and device.address is None:
            yield Finding(
                "ups-without-address",
                path,
                f"'{name}' has no address, at which snmp-ups asks it",
                "set address, or driver: usbhid-ups for a UPS at a USB port of the server",
            )
        for key in ("address", "snmp"):
            if getattr(device, key) is None or device.driver == "snmp-ups":
                continue
            yield Finding(
                "setting-unused",
                (*path, key),
                f"{key} has no effect: {device.driver} does not ask by the network",
                "remove it, or set driver: snmp-ups",
                key=True,
            )
        if not unknown and not is_redundant and hosts == {*device.feeds}:
            yield Finding(
                "ups-feeds-everything",
                (*path, "feeds"),
                f"'{name}' feeds every node of the cluster, and is not the only UPS",
                "list the nodes that are connected to it",
            )


def ups_nut_release(cluster: Cluster, section: Ups) -> Iterator[Finding]:
    """upsd and upsmon call each other primary and secondary since NUT 2.8."""
    shutdown = cluster.of(UpsShutdown)
    for name in section.devices:
        for group in cluster.groups:
            os = group.type.os
            hosts = [host for host in shutdown.devices[name].feeds if host in group.hosts]
            if hosts and version(os.fact("nut")) < (2, 8):
                yield Finding(
                    "ups-nut-release",
                    ("ups", "devices", name, "feeds"),
                    f"{compress(hosts)} {'has' if len(hosts) == 1 else 'have'} NUT {os.fact('nut')} of {os.id}, which"
                    " knows neither primary nor secondary; clustergen's files require 2.8",
                    "write os: ubuntu-24.04 or debian-12, or remove these nodes from feeds",
                )


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def server(cluster: Cluster, section: Ups) -> Iterator[Finding]:
    shutdown = cluster.of(UpsShutdown)
    path: ManifestPath = ("ups", "server") if section.server else ("ups",)
    hosts = set(cluster.hosts())
    if shutdown.server not in hosts:
        guess = did_you_mean(shutdown.server, hosts) or f"use the name of a node, as {min(hosts)}"
        yield Finding("node-unknown", path, f"'{shutdown.server}' is not a node", guess)
        return
    alone = [host for group in cluster.groups if len(group.hosts) == 1 for host in group.hosts]
    if len(server_group(cluster)[0].hosts) > 1:
        yield Finding(
            "ups-server",
            path,
            f"'{shutdown.server}' shares its entry of nodes with others, which would ask the UPS as well",
            f"set ups.server: {alone[0]}" if alone else "give it an entry of its own in nodes",
            key=True,
        )
    elif shutdown.server not in shutdown.fed() and hosts >= shutdown.fed():
        yield Finding(
            "ups-server",
            path,
            f"no UPS feeds '{shutdown.server}', which has to run longest: it shuts the other nodes down",
            f"add it to the feeds of {one_of(section.devices)}",
            key=True,
        )
