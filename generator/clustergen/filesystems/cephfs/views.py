"""CephFS clients: the kernel mount and ceph.conf."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeType
from clustergen.filesystems.cephfs import servers
from clustergen.filesystems.cephfs.model import Cephfs, secret_path
from clustergen.manifest.mount import Mount
from clustergen.records import record
from clustergen.render.file import File
from clustergen.render.views.storage.mounts import MountUnit, Source, remote_mount


def _stem(cluster: Cluster, name: str) -> str:
    """The first Ceph cluster has the file that Ceph's own tools look for."""
    entries = [key for key, entry in cluster.manifest.storage.items() if isinstance(entry, Cephfs)]
    return "ceph" if entries.index(name) == 0 else name


def _monitor(endpoint: str) -> str:
    """An IPv6 address stands in brackets."""
    return f"[{endpoint}]" if endpoint.count(":") > 1 else endpoint


def mount_units(cluster: Cluster, name: str, entry: Cephfs, _: NodeType) -> dict[str, MountUnit]:
    """The device string of monitors: unlike the one with the file system's name in it, all kernels know it."""
    stem = _stem(cluster, name)
    conf = [f"conf=/etc/ceph/{stem}.conf"] if stem != "ceph" else []
    return remote_mount(
        name,
        entry,
        Source(
            what=f"{','.join(map(_monitor, entry.monitors))}:{entry.path or '/'}",
            kind="ceph",
            options=[
                f"name={entry.user}",
                f"secretfile={secret_path(name)}",
                f"fs={entry.filesystem}",
                *conf,
                "noatime",
            ],
        ),
    )


@record
class CephConf:
    """ceph.conf of a client."""

    fsid: str
    monitors: str
    user: str
    secret: str


def ceph_conf(cluster: Cluster, name: str, entry: Mount) -> dict[str, CephConf] | None:
    if not isinstance(entry, Cephfs):
        return None
    monitors = ",".join(map(_monitor, entry.monitors))
    return {_stem(cluster, name): CephConf(entry.fsid, monitors, entry.user, secret_path(name))}


FILES: tuple[File, ...] = (File("mount/etc/ceph/{stem}.conf", ceph_conf), *servers.FILES)
