"""Storage: a mount unit per entry of the manifest, and what each kind of file system needs around it."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeType
from clustergen.filesystems import KINDS, part
from clustergen.filesystems.entry import Entry
from clustergen.records import replace
from clustergen.render.file import File
from clustergen.render.views.storage import quotas
from clustergen.render.views.storage.mounts import MountUnit, remount_unit


def mount_units(cluster: Cluster, entry: Entry, node_type: NodeType) -> dict[str, MountUnit]:
    """The mount unit of an entry on nodes of one type: unit name without its suffix → view."""
    views = part(entry.type, "views")
    assert views is not None, "every kind of file system has views"
    units: dict[str, MountUnit] = views.mount_units(cluster, entry, node_type)
    return units


FILES: tuple[File, ...] = (
    File("mount/etc/systemd/system/{unit}.mount", mount_units, remount_unit, per="type"),
    *(replace(file, kind=kind) for kind in KINDS for file in getattr(part(kind, "views"), "FILES", ())),
    *quotas.FILES,
)
