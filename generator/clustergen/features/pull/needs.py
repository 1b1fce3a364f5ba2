"""Contributions of nodes that pull to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import FirstBoot, Group, Package, Requisite
from clustergen.cluster.groups import membership, targets_on
from clustergen.cluster.model import Cluster
from clustergen.features.pull.resolved import GROUP, Pull, installs_itself


def groups(cluster: Cluster, _: Pull) -> Iterator[Group]:
    """Nodes that nobody else depends on, so that each can change on its own."""
    compute_only = (group for group in cluster.groups if group.roles == ("slurm-compute",))
    members = tuple(group for group in compute_only if not targets_on(cluster, group))
    yield Group(GROUP, members, before="gpu_node")


def packages(_: Pull) -> Iterator[Package]:
    yield Package(GROUP, "pull")


def requisites(pull: Pull) -> Iterator[Requisite]:
    directories = f"{pull.directory} and {pull.library} in {pull.repository}"
    yield Requisite("git repository of the nodes", (GROUP,), directories)
    yield Requisite("ansible-pull", (GROUP,), f"ansible-core 2.17 or newer in {pull.programs} or /usr/bin")


def first_boots(cluster: Cluster) -> Iterator[FirstBoot]:
    nodes = membership(cluster).get(GROUP, ())
    yield FirstBoot(GROUP, tuple({group.type.os.key for group in nodes if installs_itself(group.type.os)}))
