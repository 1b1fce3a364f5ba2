"""Contributions of the users' guide to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.job_templates import template_kinds
from clustergen.cluster.contributions import Group, GuidePart, JobPeer, Package
from clustergen.cluster.groups import users_groups
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.job_site import shared_with_jobs
from clustergen.features.user_guide.job_site import job_site
from clustergen.features.user_guide.resolved import UserGuide
from clustergen.features.user_guide.scripts import job_scripts


def groups(cluster: Cluster, _: UserGuide) -> Iterator[Group]:
    """Where users log in."""
    entrance = next((role for role in ("login", "slurm-controller") if cluster.hosts(role)), "slurm-compute")
    yield Group("user_node", cluster.with_role(entrance), before="cloud")


def packages(cluster: Cluster) -> Iterator[Package]:
    yield Package("user_node", "virtual_environments")  # which the commands of the guide require
    if any("haproxy" in template_kinds()[name].requires for name in job_scripts(cluster)):
        yield Package("slurm_compute", "load_balancer")


def transfers(cluster: Cluster) -> Iterator[Package]:
    """On both ends: users copy to the nodes where they log in, and jobs between file systems."""
    if "transfer" in job_scripts(cluster):
        yield Package("user_node", "rsync")
        yield Package("slurm_compute", "rsync")


def moving(cluster: Cluster) -> Iterator[GuidePart]:
    if "transfer" not in job_scripts(cluster):
        return
    domain = cluster.networks.management.domain
    host = next(host for group in users_groups(cluster) for host in group.hosts)
    entrance = f"{host}.{domain}" if domain else host
    site = job_site(cluster)
    mounts = [entry.mount for entry in shared_with_jobs(cluster, site.kind).values()] if site else []
    target = mounts[-1] if mounts else "/home"
    yield GuidePart(
        "Move data",
        (
            "From your own machine, copy with `rsync`. What was interrupted goes on when you repeat the command. "
            "Between file systems of the cluster, or for hours, submit a job: it needs no connection of yours and no "
            "GPU.",
        ),
        (
            f"rsync --archive --partial --progress data/ {entrance}:{target}/data/  # on your machine",
            f"rsync --archive --partial --progress {entrance}:{target}/results/ results/  # on your machine",
            f"sbatch transfer.sh ~/data/ {target}/data/",
        ),
        (
            "The job reads both sides again at its end and compares checksums. If its time ends before, submit it "
            "again. Many small files take long: pack them with `tar` first, or use a format with large files.",
        ),
    )


def job_peers(_: UserGuide) -> Iterator[JobPeer]:
    """Tunnels to Jupyter begin where users log in."""
    yield JobPeer("user_node")
