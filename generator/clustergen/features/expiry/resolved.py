"""Dates of licences and contracts as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.manifest import monitoring as manifest
from clustergen.records import record


@record
class Expiry:
    """Licences and contracts."""

    dates: Mapping[str, str]  # last day by name, as 2027-03-31


def resolve(section: manifest.Monitoring, _: Cluster, __: Monitoring) -> Expiry | None:
    return Expiry(section.expires) if section.expires else None


RECORDS = {Expiry: resolve}
