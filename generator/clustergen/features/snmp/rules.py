"""Devices that answer SNMP."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.features.snmp.resolved import Snmp as Exporter
from clustergen.features.snmp.section import Snmp
from clustergen.rules.monitoring import not_packaged

_AUTHS = "0.23"  # the first snmp_exporter that reads credentials apart from modules


def exporter_not_packaged(cluster: Cluster) -> Iterator[Finding]:
    if cluster.has(Exporter):
        yield from not_packaged(cluster.with_role("monitoring"), "snmp", f" {_AUTHS} or newer")


def devices(cluster: Cluster, section: Snmp) -> Iterator[Finding]:
    racks, hosts = {rack.name: rack for rack in cluster.racks}, set(cluster.hosts())
    for name, device in section.devices.items():
        path: ManifestPath = ("monitoring", "snmp", "devices", name)
        if device.rack is not None and device.rack not in racks:
            yield Finding(
                "rack-unknown",
                (*path, "rack"),
                f"rack '{device.rack}' is not defined",
                did_you_mean(device.rack, racks) or (f"use {one_of(racks)}" if racks else "define it under racks"),
            )
        if name in hosts:
            yield Finding("host-duplicate", path, f"'{name}' is a node of the cluster", key=True)
