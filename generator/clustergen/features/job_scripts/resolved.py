"""Prolog, epilog and task prolog as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.features.job_scripts.section import Scripts as Section
from clustergen.records import copied


def resolve(section: Section, _: Cluster) -> Scripts:
    return copied(Scripts, section, timeout_s=section.timeout)


RECORDS = {Scripts: resolve}
