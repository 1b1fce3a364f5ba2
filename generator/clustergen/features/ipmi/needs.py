"""Contributions of the IPMI exporter to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Daemon, Exported, PackageOf, ScrapeJob
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import bmc_groups
from clustergen.features.ipmi.resolved import Ipmi

POWER = "ipmi_dcmi_power_consumption_watts"
STATES = tuple(f"ipmi_{name}_state" for name in ("sensor", "temperature", "fan_speed", "voltage", "current", "power"))
AIR = 'name=~"(?i).*(inlet|intake|ambient).*",name!~"(?i).*(outlet|coolant|liquid|water|cdu|psu|ps[0-9]|power).*"'
"""Sensors of the air that a node draws in, by the names that makers use; those of coolant and supplies are others."""
METRICS = ("ipmi_up", *STATES, "ipmi_temperature_celsius", "ipmi_fan_speed_rpm", "ipmi_power_watts", POWER)
"""Metrics of the exporter that panels and alerts use."""


def daemons(ipmi: Ipmi) -> Iterator[Daemon]:
    yield Daemon(ipmi.port, ipmi.port_at, "IPMI exporter", "all")


def scrape_jobs(cluster: Cluster, ipmi: Ipmi) -> Iterator[ScrapeJob]:
    yield ScrapeJob("node-ipmi", bmc_groups(cluster), ipmi.port, interval_s=ipmi.interval_s)


def exported(_: Ipmi) -> Iterator[Exported]:
    yield Exported(METRICS)


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("prometheus-ipmi-exporter.service", "ipmi_exporter")
