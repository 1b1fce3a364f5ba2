"""Devices that answer SNMP as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring, Scraping
from clustergen.features.snmp import section as manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import copied, record


@record
class SnmpDevice:
    """A device that answers SNMP; `auth`: name of its credentials."""

    address: str
    module: str
    auth: str
    rack: str | None


@record
class Snmp(Listener):
    """The SNMP exporter, and its devices by name."""

    interval_s: int
    devices: Mapping[str, SnmpDevice]


def resolve(section: manifest.Snmp, cluster: Cluster, _: Monitoring) -> Snmp:
    return Snmp(
        section.port,
        stated_at(section, "monitoring", "snmp", "port"),
        max(section.interval, cluster.of(Scraping).interval_s),
        {name: copied(SnmpDevice, device) for name, device in section.devices.items()},
    )


RECORDS = {Snmp: resolve}
