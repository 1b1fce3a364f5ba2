"""Contributions of the users' guide to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.job_templates import template_kinds
from clustergen.cluster.contributions import Group, JobPeer, Package
from clustergen.cluster.model import Cluster
from clustergen.features.user_guide.resolved import UserGuide
from clustergen.features.user_guide.scripts import job_scripts


def groups(cluster: Cluster) -> Iterator[Group]:
    """Where users log in."""
    if cluster.has(UserGuide):
        entrance = next((role for role in ("login", "slurm-controller") if cluster.hosts(role)), "slurm-compute")
        yield Group("user_node", cluster.with_role(entrance), before="cloud")


def packages(cluster: Cluster) -> Iterator[Package]:
    yield Package("user_node", "virtual_environments")  # which the commands of the guide require
    if any("haproxy" in template_kinds()[name].requires for name in job_scripts(cluster)):
        yield Package("slurm_compute", "load_balancer")


def job_peers(cluster: Cluster) -> Iterator[JobPeer]:
    """Tunnels to Jupyter begin where users log in."""
    if cluster.has(UserGuide):
        yield JobPeer("user_node")
