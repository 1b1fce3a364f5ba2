"""The timer that compares the machines with the manifest, as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.drift import section as manifest
from clustergen.records import copied, record

TEXTFILE = "clustergen-drift.prom"
"""With metrics of the last comparison, for the node exporter."""


@record
class Drift:
    """`directory`, `programs`: on the controller, of the manifest and its tree, and of clustergen and Ansible."""

    interval_s: int
    directory: str
    programs: str


def resolve(section: manifest.Drift, _: Cluster) -> Drift | None:
    return copied(Drift, section, interval_s=section.interval) if section.enabled else None


RECORDS = {Drift: resolve}
