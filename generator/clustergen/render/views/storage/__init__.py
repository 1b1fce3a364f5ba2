"""Storage: a mount unit per entry of the manifest, and what each kind of file system needs around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clustergen.cluster.model import Cluster, NodeType
from clustergen.manifest.storage import Beegfs, Cephfs, Local, Lustre, Mount, Nfs, Weka
from clustergen.render.registry import File
from clustergen.render.views.storage import beegfs, cephfs, lustre, nfs, weka, zfs
from clustergen.render.views.storage.local import disk_mount
from clustergen.render.views.storage.mounts import MountUnit, remount_unit

SOURCES: dict[type[Mount], Callable[[Cluster, str, Any, NodeType], dict[str, MountUnit]]] = {
    Lustre: lustre.lustre_mount,
    Beegfs: beegfs.beegfs_mount,
    Nfs: nfs.nfs_mount,
    Weka: weka.weka_mount,
    Cephfs: cephfs.cephfs_mount,
    Local: disk_mount,
}


def mount_units(cluster: Cluster, name: str, entry: Mount, kind: NodeType) -> dict[str, MountUnit]:
    """The mount unit of an entry on nodes of one type: unit name without its suffix → view."""
    return SOURCES[type(entry)](cluster, name, entry, kind)


FILES: tuple[File, ...] = (
    File("mount/etc/systemd/system/{unit}.mount", mount_units, remount_unit, per="type"),
    *lustre.FILES,
    *beegfs.FILES,
    *nfs.FILES,
    *zfs.FILES,
    *weka.FILES,
    *cephfs.FILES,
)
