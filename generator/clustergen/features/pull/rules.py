"""Nodes that apply the tree to themselves: what one node can do without the others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.groups import membership
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.model import Slurm
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.features.pull import section as manifest
from clustergen.features.pull.resolved import GROUP, Pull

_PATH: ManifestPath = ("ansible", "pull")


def pull_without_configless(_: Cluster, __: Pull, slurm: Slurm) -> Iterator[Finding]:
    if not slurm.configless:
        yield Finding(
            "pull-without-configless",
            _PATH,
            "nodes that pull at different times would have a slurm.conf that differs from slurmctld's",
            "set slurm.configless: true, so that slurmd fetches its configuration from slurmctld",
        )


def pull_without_nodes(cluster: Cluster, _: Pull) -> Iterator[Finding]:
    if GROUP not in membership(cluster):
        yield Finding(
            "pull-without-nodes",
            _PATH,
            "no node pulls: only nodes do whose single role is slurm-compute and that serve no storage",
            "remove ansible.pull, or give compute nodes no other role",
        )


def pull_unauthenticated(_: Cluster, pull: Pull) -> Iterator[Finding]:
    """A node runs as root all that it pulls."""
    if not pull.signers and pull.repository.startswith(("http://", "git://")):
        yield Finding(
            "pull-unauthenticated",
            (*_PATH, "repository"),
            "the repository is not authenticated: a machine that answers in its place is root on all nodes that pull",
            "write an https:// or ssh:// address, or name the keys that sign commits in signers",
        )


def pull_age_unused(cluster: Cluster, section: manifest.Pull) -> Iterator[Finding]:
    if not cluster.of(Pull).signers and "max_age" in section.model_fields_set:
        yield Finding(
            "pull-age-unused",
            (*_PATH, "max_age"),
            "max_age has no effect without signers: nodes accept unsigned commits of any age",
            "add the keys that sign commits to ansible.pull.signers, or remove max_age",
        )
