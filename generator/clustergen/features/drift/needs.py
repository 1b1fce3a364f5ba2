"""Contributions of the drift timer to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Requisite
from clustergen.cluster.model import Cluster
from clustergen.features.drift.resolved import Drift

_GROUPS = ("slurm_controller",)


def requisites(cluster: Cluster) -> Iterator[Requisite]:
    if cluster.has(Drift):
        drift = cluster.of(Drift)
        programs = f"clustergen and ansible-playbook in {drift.programs}"
        yield Requisite("programs of the drift timer", _GROUPS, programs)
        yield Requisite("cluster of the drift timer", _GROUPS, f"manifest.yaml and rendered in {drift.directory}")
        yield Requisite("ssh key of the drift timer", _GROUPS, "a key of root that all nodes accept")
