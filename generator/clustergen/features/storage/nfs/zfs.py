"""ZFS below an NFS export: the values of the program that makes pool and dataset, and the size of ZFS's cache."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from clustergen.cluster.exports import serves
from clustergen.cluster.model import Cluster, NodeGroup, NodeType
from clustergen.features.storage.nfs.resolved import Nfs, ZfsPool
from clustergen.features.storage.nfs.routes import served
from clustergen.records import record
from clustergen.render.file import File, sbin


@record
class Vdev:
    """Neighbouring disks of the list, and the words before them on zpool's command line."""

    words: str
    start: int
    count: int


@record
class Pool:
    """The values of clustergen-zpool: one pool, and the dataset of one export."""

    pool: str
    dataset: str
    mountpoint: str
    ashift: int
    disks: tuple[str, ...]
    vdevs: tuple[Vdev, ...]
    properties: tuple[str, ...]  # NAME=VALUE


def vdevs(pool: ZfsPool) -> tuple[Vdev, ...]:
    """The pool's disks in order, `vdev_width` of them each; then log and cache devices."""
    width = pool.vdev_width
    word: str = "" if pool.layout == "stripe" else pool.layout
    groups = [(word, len(pool.disks[i : i + width])) for i in range(0, len(pool.disks), width)]
    if pool.log:
        groups.append(("log mirror" if len(pool.log) == 2 else "log", len(pool.log)))
    if pool.cache:
        groups.append(("cache", len(pool.cache)))
    starts = accumulate((count for _, count in groups), initial=0)
    return tuple(Vdev(words, start, count) for (words, count), start in zip(groups, starts, strict=False))


def pool_values(_: Cluster, entry: Nfs) -> dict[str, Pool] | None:
    if (zfs := entry.export.zfs) is None:
        return None
    return {
        entry.name: Pool(
            pool=zfs.name,
            dataset=f"{zfs.name}/{entry.name}",
            mountpoint=entry.path.rstrip("/"),
            ashift=zfs.ashift,
            disks=(*zfs.disks, *zfs.log, *zfs.cache),
            vdevs=vdevs(zfs),
            properties=tuple(f"{key}={value}" for key, value in zfs.properties.items()),
        )
    }


def program(cluster: Cluster) -> bool:
    return any(entry.export.zfs for entry in served(cluster).values())


@record
class Arc:
    """Module options of zfs."""

    max_bytes: int
    share: str  # where the figure comes from


def arc(cluster: Cluster, node_type: NodeType) -> Arc | None:
    """The manifest's limit, else a share of the memory; ZFS itself would take nearly all of it from 2.3 on."""
    servers = list(_zfs_servers(cluster, node_type))
    limits = [zfs.arc_max_bytes for _, zfs in servers if zfs.arc_max_bytes is not None]
    if limits:
        return Arc(max(limits), "as the manifest says")
    if not servers or not node_type.memory_mib:
        return None
    part, words = (4, "a quarter") if any(group.has("slurm-compute") for group, _ in servers) else (2, "half")
    return Arc((node_type.memory_mib // part) << 20, f"{words} of this machine's memory")


def _zfs_servers(cluster: Cluster, node_type: NodeType) -> Iterator[tuple[NodeGroup, ZfsPool]]:
    for group in cluster.of_type[node_type.name]:
        for entry in cluster.entries(Nfs).values():
            if entry.export.zfs is not None and serves(cluster, group, entry):
                yield group, entry.export.zfs


FILES: tuple[File, ...] = (
    sbin("nfs_server", "storage/clustergen-zpool.sh", program),
    File("export/etc/clustergen/zpool-{name}.sh", pool_values, values=True),
    File("nfs_server/etc/modprobe.d/clustergen-zfs.conf", arc, per="type"),
)
