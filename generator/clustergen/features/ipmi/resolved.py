"""Sensors of BMCs as resolved."""

from __future__ import annotations

from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring, Scraping, bmc_groups
from clustergen.manifest.model import Manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import record


@record
class Ipmi(Listener):
    """The IPMI exporter of nodes that have a BMC."""

    interval_s: int
    air_inlet_c: int | None  # stated limit of the air that nodes draw in
    fan_speed_rpm: int | None  # slowest; None: no alert


def resolve(whole: Manifest, cluster: Cluster, _: Monitoring) -> Ipmi | None:
    section, thresholds = whole.monitoring.ipmi, whole.monitoring.thresholds
    if section is None or not bmc_groups(cluster):
        return None
    interval_s = max(section.interval, cluster.of(Scraping).interval_s)
    return Ipmi(
        section.port,
        stated_at(section, "monitoring", "ipmi", "port"),
        interval_s,
        thresholds.air_inlet,
        thresholds.fan_speed,
    )


RECORDS = {Ipmi: resolve}
