"""The timer that compares the machines with the manifest, as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.manifest.model import Manifest
from clustergen.records import copied, record


@record
class Drift:
    """`directory`, `programs`: on the controller, of the manifest and its tree, and of clustergen and Ansible."""

    interval_seconds: int
    directory: str
    programs: str


def resolve(manifest: Manifest, _: Cluster) -> Drift | None:
    section = manifest.drift
    return copied(Drift, section, interval_seconds=section.interval) if section.enabled else None
