"""Reports of usage as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.reports import section as manifest
from clustergen.records import record


@record
class Reports:
    """Usage by account and user. `period`: day, week or month."""

    period: str


def resolve(section: manifest.Reports, _: Cluster) -> Reports:
    return Reports(section.period)


def is_made(cluster: Cluster) -> bool:
    """True if there are reports, and a slurmdbd that knows what they sum up."""
    return cluster.has(Reports) and cluster.slurm.keeps_books


RECORDS = {Reports: resolve}
