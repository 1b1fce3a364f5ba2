"""Contributions of the users' guide to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Group, JobPeer, Package
from clustergen.cluster.model import Cluster
from clustergen.features.user_guide.resolved import UserGuide


def groups(cluster: Cluster) -> Iterator[Group]:
    """Where users log in."""
    if cluster.has(UserGuide):
        entrance = next((role for role in ("login", "slurm-controller") if cluster.hosts(role)), "slurm-compute")
        yield Group("user_node", cluster.with_role(entrance), before="cloud")


def packages(_: Cluster) -> Iterator[Package]:
    yield Package("user_node", "virtual_environments")  # which the commands of the guide require


def job_peers(cluster: Cluster) -> Iterator[JobPeer]:
    """Tunnels to Jupyter begin where users log in."""
    if cluster.has(UserGuide):
        yield JobPeer("user_node")
