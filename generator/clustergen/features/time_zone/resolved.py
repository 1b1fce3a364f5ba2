"""The time zone, as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.manifest.host import Host
from clustergen.records import record


@record
class TimeZone:
    """The nodes' time zone. Absent: left as it is on each node."""

    name: str  # as Europe/Berlin


def resolve(section: Host, _: Cluster) -> TimeZone | None:
    return TimeZone(section.timezone) if section.timezone else None


RECORDS = {TimeZone: resolve}
