"""Contributions of the drift timer to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Group, Requisite
from clustergen.cluster.model import Cluster
from clustergen.features.drift.resolved import GROUP, Drift, hosting


def groups(cluster: Cluster, _: Drift) -> Iterator[Group]:
    yield Group(GROUP, hosting(cluster), before="cloud")


def requisites(drift: Drift) -> Iterator[Requisite]:
    programs = f"clustergen and ansible-playbook in {drift.programs}"
    yield Requisite("programs of the drift timer", (GROUP,), programs)
    yield Requisite("cluster of the drift timer", (GROUP,), f"manifest.yaml and rendered in {drift.directory}")
    yield Requisite("ssh key of the drift timer", (GROUP,), "a key of root that all nodes accept")
