"""A mount unit per entry of storage, which its kind of file system makes."""

from __future__ import annotations

from clustergen.cluster.entry import Entry
from clustergen.cluster.model import Cluster, NodeType
from clustergen.feature import module
from clustergen.render.file import File
from clustergen.render.mounts import MountUnit, remount_unit


def mount_units(cluster: Cluster, entry: Entry, node_type: NodeType) -> dict[str, MountUnit]:
    """The mount unit of an entry on nodes of one type: unit name without its suffix → view."""
    kind = module(f"storage.{entry.type}", "files")
    assert kind is not None, "every kind of file system has files"
    units: dict[str, MountUnit] = kind.mount_units(cluster, entry, node_type)
    return units


FILES = (File("mount/etc/systemd/system/{unit}.mount", mount_units, remount_unit, per="type"),)
