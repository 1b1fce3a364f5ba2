"""Sensors of BMCs as resolved."""

from __future__ import annotations

from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring, Scraping, bmc_groups
from clustergen.features.ipmi import section as manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import record


@record
class Ipmi(Listener):
    """The IPMI exporter of nodes that have a BMC."""

    interval_s: int


def resolve(section: manifest.Ipmi, cluster: Cluster) -> Ipmi | None:
    if not cluster.has(Monitoring) or not bmc_groups(cluster):
        return None
    interval_s = max(section.interval, cluster.of(Scraping).interval_s)
    return Ipmi(section.port, stated_at(section, "monitoring", "ipmi", "port"), interval_s)


RECORDS = {Ipmi: resolve}
