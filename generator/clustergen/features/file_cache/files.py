"""The cache of NFS files: its file system, cachefilesd, and the program that shows it."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.host import FileCache
from clustergen.cluster.model import Cluster
from clustergen.features.file_cache.needs import GROUP, UNIT
from clustergen.records import record
from clustergen.render.effects import restart
from clustergen.render.file import Context, File
from clustergen.render.mounts import device_path
from clustergen.render.unit_names import mount_unit

DIRECTORY = "/var/cache/fscache"


@record
class Settings:
    """cachefilesd.conf. `is_labelled`: the kernel's part has a label of SELinux."""

    directory: str
    cache: FileCache
    is_labelled: bool


@record
class CacheMount:
    """The file system of the cache."""

    what: str
    where: str
    kind: str


@record
class Values:
    """Values of the program."""

    directory: str
    brun: int
    bcull: int
    bstop: int


def settings(cluster: Cluster, os: OperatingSystem) -> Settings | None:
    cache = cluster.get(FileCache)
    return Settings(DIRECTORY, cache, os.yes("selinux")) if cache else None


def unit(cluster: Cluster, os: OperatingSystem) -> Context | None:
    """cachefilesd.service. `is_labelled`: SELinux demands a label that a new file system lacks."""
    return {"directory": DIRECTORY, "is_labelled": os.yes("selinux")} if cluster.has(FileCache) else None


def has_cache(cluster: Cluster) -> bool:
    return cluster.has(FileCache)


def mount(cluster: Cluster) -> CacheMount | None:
    cache = cluster.get(FileCache)
    return CacheMount(device_path(cache.device), DIRECTORY, cache.filesystem) if cache else None


def values(cluster: Cluster) -> Values | None:
    cache = cluster.get(FileCache)
    return Values(DIRECTORY, cache.brun, cache.bcull, cache.bstop) if cache else None


_PROGRAM = "clustergen-file-cache"
_SYSTEM = f"{GROUP}/etc/systemd/system"
FILES = (
    File(f"{GROUP}/etc/cachefilesd.conf", settings, restart(UNIT), per="os"),
    File(f"{_SYSTEM}/{mount_unit(DIRECTORY)}", mount, restart(mount_unit(DIRECTORY))),
    File(f"{_SYSTEM}/{UNIT}", unit, restart(UNIT), per="os"),
    File(f"{GROUP}/usr/local/sbin/{_PROGRAM}", has_cache, mode=0o755, program=f"storage/{_PROGRAM}.py"),
    File(f"{GROUP}/etc/clustergen/file-cache.json", values, values=True),
)
