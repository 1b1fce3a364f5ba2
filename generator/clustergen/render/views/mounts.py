"""A mount unit per entry of storage, which its kind of file system makes."""

from __future__ import annotations

from typing import Any

from clustergen.cluster.entry import Entry
from clustergen.cluster.model import Cluster, NodeType
from clustergen.feature import Attributed, module
from clustergen.render.file import File
from clustergen.render.mounts import MountUnit, remount_unit


def mount_units(cluster: Cluster, entry: Entry, node_type: NodeType) -> dict[str, MountUnit]:
    """The mount unit of an entry on nodes of one type: unit name without its suffix → view."""
    kind = module(f"storage.{entry.type}", "files")
    assert kind is not None, "every kind of file system has files"
    with Attributed(kind.__name__):
        units: Any = kind.mount_units(cluster, entry, node_type)
        if not (isinstance(units, dict) and all(isinstance(unit, MountUnit) for unit in units.values())):
            raise TypeError(f"mount_units: {units!r} is no dict of MountUnit")
        mounts: dict[str, MountUnit] = units
        return mounts


AREA = "storage"
FILES = (File("mount/etc/systemd/system/{unit}.mount", mount_units, remount_unit, per="type"),)
