"""Extensions that a cluster uses: only those are in its tree, and in the lock file."""

from __future__ import annotations

from collections.abc import Container

from clustergen.cluster.contributions import PackageOf, SlurmTopic
from clustergen.cluster.groups import membership
from clustergen.cluster.model import Cluster, contributors, once_per_cluster
from clustergen.feature import Feature, extension_of


@once_per_cluster
def used_extensions(cluster: Cluster) -> tuple[Feature, ...]:
    """Those of which the cluster has a record, an entry of storage, or a contribution for nodes that exist."""
    kinds = {kind.__module__ for kind in (*cluster.record_types, *map(type, cluster.storage.values()))}
    used = {extension for module in kinds if (extension := extension_of(module))}
    groups = membership(cluster)
    for functions in contributors().values():
        for contribute in functions:
            extension = extension_of(contribute.__module__)
            if extension and any(_reaches(cluster, item, groups) for item in contribute(cluster)):
                used.add(extension)
    return tuple(sorted(used))


def _reaches(cluster: Cluster, item: object, groups: Container[str]) -> bool:
    """True unless a contribution only says what would be, as keys without a value or packages of no node."""
    if isinstance(item, PackageOf):
        return False
    if isinstance(item, SlurmTopic):
        return any(True for _ in item.rows(cluster))
    return getattr(item, "group", "all") in groups
