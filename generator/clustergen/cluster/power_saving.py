"""Which compute nodes power saving leaves on."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.nfs import serves
from clustergen.hostlist import expand


def with_other_roles(cluster: Cluster) -> Iterator[str]:
    """Host lists of compute nodes that others need even when they have no job."""
    for group in cluster.compute:
        if set(group.roles) - {"slurm-compute"} or any(
            serves(cluster, group, entry) for entry in cluster.manifest.storage.values()
        ):
            yield group.folded


def staying_on(cluster: Cluster) -> frozenset[str]:
    """Nodes that are never switched off: stated ones, those with other roles, and those of partitions that stay on."""
    saving = cluster.manifest.slurm.power_saving
    if saving is None:
        return frozenset()
    lists = [saving.except_nodes or "", *with_other_roles(cluster)]
    hosts = {host for text in lists if text for host in expand(text)}
    return frozenset(hosts.union(*(one.hosts for one in cluster.partitions if one.name in saving.except_partitions)))
