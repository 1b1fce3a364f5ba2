"""Contributions of the SNMP exporter to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Daemon, DeviceAddress, Exported, PackageOf, ScrapeJob, Secret, Targets
from clustergen.cluster.model import Cluster
from clustergen.features.snmp.modules import AUTHS, UNIT, used
from clustergen.features.snmp.resolved import Snmp


def daemons(snmp: Snmp) -> Iterator[Daemon]:
    yield Daemon(snmp.port, snmp.port_at, "SNMP exporter", "monitoring", source=None)


def scrape_jobs(snmp: Snmp) -> Iterator[ScrapeJob]:
    """Devices have the exporter's parameters as labels, which Prometheus does not store."""
    devices = tuple(
        Targets(
            (device.address,),
            (
                ("instance", name),
                ("rack", device.rack or ""),
                ("__param_module", device.module),
                ("__param_auth", device.auth),
            ),
        )
        for name, device in snmp.devices.items()
    )
    prober = f"localhost:{snmp.port}"
    yield ScrapeJob("snmp", path="/snmp", interval_s=snmp.interval_s, others=devices, has_hosts=False, prober=prober)


def addresses(snmp: Snmp) -> Iterator[DeviceAddress]:
    for name, device in snmp.devices.items():
        yield DeviceAddress(name, device.address, ("monitoring", "snmp", "devices", name, "address"))


def exported(cluster: Cluster) -> Iterator[Exported]:
    for module in used(cluster):
        yield Exported(tuple(metric.name for metric in module.metrics))


def secrets(_: Snmp) -> Iterator[Secret]:
    yield Secret(
        "snmp", AUTHS, ("monitoring",), owner="prometheus", mode="0400", origin="given", effect=f"restart:{UNIT}"
    )


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf(UNIT, "snmp_exporter")
