"""Reports of usage as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.manifest.model import Manifest
from clustergen.records import record


@record
class Reports:
    """Usage by account and user. `period`: day, week or month."""

    period: str


def resolve(manifest: Manifest, _: Cluster) -> Reports | None:
    section = manifest.reports
    return Reports(section.period) if section else None
