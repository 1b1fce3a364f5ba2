"""Probes from outside as resolved."""

from __future__ import annotations

from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring, Scraping, bmc_groups
from clustergen.features.blackbox import section as manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import copied, record


@record
class Blackbox(Listener):
    """The blackbox exporter."""

    interval_s: int
    ssh: bool
    bmc: bool  # there are BMCs to probe
    web: tuple[str, ...]


def resolve(section: manifest.Blackbox, cluster: Cluster, _: Monitoring) -> Blackbox:
    return copied(
        Blackbox,
        section,
        port_at=stated_at(section, "monitoring", "blackbox", "port"),
        interval_s=max(section.interval, cluster.of(Scraping).interval_s),
        bmc=section.bmc and bool(bmc_groups(cluster)),
    )


RECORDS = {Blackbox: resolve}
