"""Disks of the nodes themselves. Formatting is done when a node is set up, never by a unit."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.storage.local.resolved import Local
from clustergen.render.mounts import MountUnit, Source, local_mount

_BY = {"LABEL": "by-label", "UUID": "by-uuid"}


def _device(path: str) -> str:
    """A unit waits for a device by its path; LABEL= and UUID= are known to fstab alone."""
    tag, equals, value = path.partition("=")
    return f"/dev/disk/{_BY[tag]}/{value}" if equals else path


def mount_units(_: Cluster, entry: Local, __: NodeType) -> dict[str, MountUnit]:
    return local_mount(entry, Source(what=_device(entry.device), kind=entry.filesystem, options=["noatime"]))
