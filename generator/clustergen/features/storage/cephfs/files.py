"""CephFS clients: the mount by the kernel or by ceph-fuse, and ceph.conf."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.storage.cephfs import servers
from clustergen.features.storage.cephfs.resolved import Cephfs
from clustergen.records import record
from clustergen.render.file import File
from clustergen.render.mounts import MountUnit, Source, remote_mount


def _monitor(endpoint: str) -> str:
    """An IPv6 address stands in brackets."""
    return f"[{endpoint}]" if endpoint.count(":") > 1 else endpoint


def mount_units(_: Cluster, entry: Cephfs, __: NodeType) -> dict[str, MountUnit]:
    conf = f"conf=/etc/ceph/{entry.conf}.conf"
    return remote_mount(entry, _fuse(entry, conf) if entry.mounter == "fuse" else _kernel(entry, conf))


def _kernel(entry: Cephfs, conf: str) -> Source:
    """The device string of monitors: unlike the one with the file system's name in it, all kernels know it."""
    own_conf = [conf] if conf != "conf=/etc/ceph/ceph.conf" else []
    secret = f"secretfile={entry.secret.path}"
    return Source(
        what=f"{','.join(map(_monitor, entry.monitors))}:{entry.path or '/'}",
        kind=entry.mount_type,
        options=[f"name={entry.user}", secret, f"fs={entry.filesystem}", *own_conf, "noatime"],
    )


def _fuse(entry: Cephfs, conf: str) -> Source:
    """Monitors and key come from ceph.conf. mount.fuse.ceph passes options with the prefix `ceph.` to ceph-fuse."""
    path = [f"client_mountpoint={entry.path}"] if entry.path else []
    options = [f"id={entry.user}", conf, f"client_fs={entry.filesystem}", *path]
    return Source(
        what="none",
        kind=entry.mount_type,
        options=[*(f"ceph.{option}" for option in options), "noatime"],
    )


@record
class CephConf:
    """ceph.conf of a client."""

    fsid: str
    monitors: str
    user: str
    secret: str


def ceph_conf(_: Cluster, entry: Cephfs) -> dict[str, CephConf] | None:
    monitors = ",".join(map(_monitor, entry.monitors))
    return {entry.conf: CephConf(entry.fsid, monitors, entry.user, entry.secret.path)}


FILES: tuple[File, ...] = (File("mount/etc/ceph/{stem}.conf", ceph_conf), *servers.FILES)
