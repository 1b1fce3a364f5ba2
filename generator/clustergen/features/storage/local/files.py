"""Disks of the nodes themselves. Formatting is done when a node is set up, never by a unit."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.storage.local.resolved import Local
from clustergen.render.mounts import MountUnit, Source, device_path, local_mount


def mount_units(_: Cluster, entry: Local, __: NodeType) -> dict[str, MountUnit]:
    return local_mount(entry, Source(what=device_path(entry.device), kind=entry.filesystem, options=["noatime"]))
