"""IBM Storage Scale clients: a unit that is active while the file system is mounted, options, and the kernel module."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.storage.storage_scale.resolved import StorageScale
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD
from clustergen.render.file import Context, File, always
from clustergen.render.formats import BARE
from clustergen.render.mounts import MountUnit, merged


def mount_units(_: Cluster, __: StorageScale, ___: NodeType) -> dict[str, MountUnit]:
    """None: mmfsd mounts it."""
    return {}


@record
class Ready:
    """The unit that waits for the mount, which Slurm waits for."""

    name: str
    filesystem: str
    mount: str


def ready(_: Cluster, entry: StorageScale) -> dict[str, Ready] | None:
    return {entry.name: Ready(entry.name, entry.filesystem, entry.mount)}


def local_options(_: Cluster, entry: StorageScale) -> dict[str, Context] | None:
    """Mount options of this node, which come after those of the storage cluster."""
    options = merged(["nosuid", "nodev", *(["ro"] if entry.read_only else [])], entry.options)
    return {entry.filesystem: {"options": ",".join(options)}}


FILES: tuple[File, ...] = (
    File("mount/etc/systemd/system/clustergen-storage-scale-{name}.service", ready, DAEMON_RELOAD),
    File("mount/var/mmfs/etc/localMountOptions.{filesystem}", local_options, format=BARE),
    File("storage_scale_client/etc/systemd/system/clustergen-storage-scale-module.service", always, DAEMON_RELOAD),
)
