"""Contributions of the cache of NFS files to files of others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clustergen.cluster.contributions import Group, Package, PackageOf, Requisite, Service, Substitution
from clustergen.cluster.host import FileCache
from clustergen.cluster.model import Cluster

GROUP = "file_cache"
UNIT = "cachefilesd.service"


def groups(cluster: Cluster, file_cache: FileCache) -> Iterator[Group]:
    types = file_cache.types
    yield Group(GROUP, tuple(group for group in cluster.groups if group.type.name in types))


def services(_: FileCache) -> Iterator[Service]:
    yield Service(GROUP, "cachefilesd")


def packages_of(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf(UNIT, "file_cache")


def packages(file_cache: FileCache) -> Iterator[Package]:
    yield Package(GROUP, file_cache.filesystem)


def requisites(cache: FileCache) -> Iterator[Requisite]:
    yield Requisite(f"{cache.filesystem} file system of the cache of NFS files", (GROUP,), cache.device)


def substitutions(_: FileCache) -> Iterator[Substitution]:
    yield Substitution("no cache of NFS files", "the kernel of the machine keeps it, on a disk", _without_cache)


def _without_cache(document: dict[str, Any]) -> None:
    document.get("host", {}).pop("file_cache", None)
    for node_type in document["node_types"].values():
        for disk in node_type.get("disks", ()):
            if disk.get("use") == "cache":
                disk["use"] = "spare"
