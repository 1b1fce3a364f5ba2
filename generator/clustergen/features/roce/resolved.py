"""Lossless Ethernet, as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.networks import Roce
from clustergen.manifest.networks import Fabric
from clustergen.records import copied


def resolve(section: Fabric, _: Cluster) -> Roce | None:
    return copied(Roce, section.roce) if section.type == "roce" else None


RECORDS = {Roce: resolve}
