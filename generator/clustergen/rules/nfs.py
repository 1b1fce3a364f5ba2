"""NFS: servers and their exports, transports, and the ZFS pools below."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.storage import serves
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.manifest.storage import Nfs
from clustergen.rules.storage import is_unstable, no_rdma, rdma_possible

_LEAST_DISKS = {"stripe": 1, "mirror": 2, "raidz1": 2, "raidz2": 3, "raidz3": 4}


def _nfs(cluster: Cluster) -> Iterator[tuple[str, Nfs]]:
    for name, entry in cluster.manifest.storage.items():
        if isinstance(entry, Nfs):
            yield name, entry


def servers(cluster: Cluster) -> Iterator[Finding]:
    used: set[int] = set()
    for name, entry in _nfs(cluster):
        found = [group for group in cluster.groups if serves(cluster, group, entry)]
        used.update(group.index for group in found)
        for group in found:
            if not group.has("nfs-server"):
                yield Finding(
                    "nfs-server-role",
                    ("storage", name, "server"),
                    f"'{entry.server}' is a node without the role nfs-server, so it exports nothing",
                    f"add nfs-server to the roles of {group.folded}",
                )
        if not found and entry.export.model_fields_set:
            near = did_you_mean(entry.server, cluster.hosts())
            yield Finding(
                "nfs-export-elsewhere",
                ("storage", name, "server" if near else "export"),
                f"'{entry.server}' is no node of this cluster, so clustergen cannot export anything there",
                near or "leave export out",
                key=near is None,
            )
    for group in cluster.with_role("nfs-server"):
        if group.index not in used:
            yield Finding(
                "nfs-server-idle",
                ("nodes", group.index, "roles"),
                f"{group.folded} serves nothing: it is the server of no storage entry of type nfs",
                f"say server: {group.hosts[0]} in one, or take the role away",
            )


def transport(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in _nfs(cluster):
        path: ManifestPath = ("storage", name)
        words = [option.partition("=")[0] for option in entry.options]
        if entry.rdma and (entry.nconnect or "nconnect" in words):
            where: ManifestPath = (*path, "nconnect") if entry.nconnect else (*path, "options", words.index("nconnect"))
            yield Finding(
                "nfs-nconnect",
                where,
                "several connections are for TCP; RDMA has one",
                "leave it out",
                key=bool(entry.nconnect),
            )
        if entry.rdma and not rdma_possible(cluster):
            yield no_rdma(cluster, (*path, "rdma"))
        for where in [(*path, "soft")] * entry.soft + [
            (*path, "options", index) for index, word in enumerate(words) if word in ("soft", "softerr")
        ]:
            yield Finding(
                "nfs-soft",
                where,
                "a soft mount gives up in the middle of writes, and few programs look: data is lost in silence",
                "leave it out; required: false lets nodes work without the file system",
                key=where[-1] == "soft",
            )


def zfs(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in _nfs(cluster):
        pool = entry.export.zfs
        if pool is None:
            continue
        path: ManifestPath = ("storage", name, "export", "zfs")
        least = _LEAST_DISKS[pool.layout]
        width = pool.vdev_width or len(pool.disks)
        if len(pool.disks) % width:
            yield Finding(
                "zfs-layout",
                (*path, "vdev_width"),
                f"{len(pool.disks)} disks cannot be shared out among vdevs of {width}",
                f"a divisor of {len(pool.disks)}",
            )
        elif width < least:
            given = "layout" in pool.model_fields_set
            yield Finding(
                "zfs-layout",
                (*path, "layout") if given else (*path, "disks"),
                f"{pool.layout} needs {least} disks in a vdev, and there {'is' if width == 1 else 'are'} {width}",
                "mirror, for two disks"
                if width == 2
                else "stripe, for a single disk: no redundancy"
                if width == 1
                else None,
                key=not given,
            )
        seen: dict[str, str] = {}
        for field in ("disks", "log", "cache"):
            for index, disk in enumerate(getattr(pool, field)):
                if disk in seen:
                    yield Finding("zfs-disk-twice", (*path, field, index), f"'{disk}' is among {seen[disk]} already")
                elif is_unstable(disk):
                    yield Finding(
                        "device-name-unstable",
                        (*path, field, index),
                        f"{disk} may be another disk when the pool is made: the kernel counts them as it finds them",
                        "a name below /dev/disk/by-id",
                    )
                seen.setdefault(disk, field)


RULES = (servers, transport, zfs)
