"""Topology as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.scheduling import Topology
from clustergen.features.topology.section import Topology as Section
from clustergen.records import copied


def resolve(section: Section, _: Cluster) -> Topology:
    return copied(Topology, section, format="conf" if section.format == "auto" else section.format)


RECORDS = {Topology: resolve}
