"""chrony of all nodes, as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.manifest.host import Host
from clustergen.records import record


@record
class Chrony:
    """Absent: the clock is not configured."""

    ntp: tuple[str, ...]  # servers that the controllers ask


def resolve(section: Host, cluster: Cluster) -> Chrony | None:
    """A single machine without time servers of its own keeps what its distribution has set up."""
    ntp = cluster.networks.management.ntp
    return Chrony(ntp) if section.chrony and (cluster.host_count > 1 or ntp) else None


RECORDS = {Chrony: resolve}
