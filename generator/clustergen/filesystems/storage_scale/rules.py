"""IBM Storage Scale: the servers that clients have to reach."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.filesystems.storage_scale.entry import StorageScale


def reached(_: Cluster, __: NodeGroup, entry: StorageScale) -> list[str]:
    return list(entry.contacts)
