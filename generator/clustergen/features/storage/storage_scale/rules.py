"""IBM Storage Scale: the servers that clients have to reach."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.features.storage.storage_scale.resolved import StorageScale


def reached(_: Cluster, __: NodeGroup, entry: StorageScale) -> list[str]:
    return list(entry.contacts)
