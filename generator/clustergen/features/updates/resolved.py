"""Updates of packages, as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.updates import section as manifest
from clustergen.records import record


@record
class Updates:
    """Absent: nodes update as their distribution and the administrator have set them up."""

    hold: tuple[str, ...]  # families of packages that keep their version
    security: bool


def resolve(section: manifest.Updates, _: Cluster) -> Updates | None:
    return Updates(tuple(dict.fromkeys(section.hold)), section.security) if section.enabled else None


RECORDS = {Updates: resolve}
