"""The cache of NFS files: limits in order, and something to cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.groups import mounts
from clustergen.cluster.host import FileCache
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.features.file_cache import section as manifest
from clustergen.manifest.hardware import NodeType
from clustergen.rules.storage import is_unstable

_PATH: ManifestPath = ("host", "file_cache")


def file_cache_limits(_: Cluster, section: manifest.FileCache) -> Iterator[Finding]:
    """The order of limits that cachefilesd's page demands; the kernel refuses others when the daemon starts."""
    for lower, upper in (("bstop", "bcull"), ("bcull", "brun")):
        low, high = getattr(section, lower), getattr(section, upper)
        if low >= high:
            stated = upper if upper in section.model_fields_set else lower
            yield Finding(
                "file-cache-limits",
                (*_PATH, stated),
                f"{lower} is {low} and {upper} is {high}, but the kernel demands bstop < bcull < brun",
                "write {brun: 10, bcull: 7, bstop: 3}, or other percents in that order",
            )
            return


def device(_: Cluster, section: manifest.FileCache) -> Iterator[Finding]:
    if is_unstable(section.device):
        yield Finding(
            "device-name-unstable",
            (*_PATH, "device"),
            f"the kernel numbers disks in detection order, so {section.device} may be a different disk after a reboot",
            "write LABEL=fscache, UUID=…, or a path below /dev/disk/by-path that exists on all nodes",
        )


def without_disk(cluster: Cluster, section: manifest.FileCache) -> Iterator[Finding]:
    if not cluster.has(FileCache):
        yield Finding(
            "file-cache-idle",
            _PATH,
            f"no node type has a disk for its {section.filesystem} file system",
            "add {device: nvme1n1, size: 2TB, use: cache} to the disks of a node type, or remove the section",
            key=True,
        )


def without_mount(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    for name in cluster.of(FileCache).types if cluster.has(FileCache) else ():
        groups = cluster.of_type[name]
        if groups and not any(_caches(cluster, group.index) for group in groups):
            index = next(index for index, disk in enumerate(section[name].disks) if disk.use == "cache")
            yield Finding(
                "file-cache-idle",
                ("node_types", name, "disks", index, "use"),
                f"nodes of type '{name}' mount no NFS file system whose files the disk could cache",
                "write use: scratch, or add an entry of storage with type: nfs that these nodes mount",
            )


def _caches(cluster: Cluster, index: int) -> bool:
    entries = mounts(cluster, cluster.groups[index]).values()
    return any(entry.mount_type == "nfs" and "nofsc" not in entry.options for entry in entries)
