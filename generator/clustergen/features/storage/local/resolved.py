"""Local disks as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.entry import Disk, Entry, Scope, resolved
from clustergen.cluster.file_system import FileSystem
from clustergen.cluster.model import Cluster
from clustergen.features.storage.local import section as manifest
from clustergen.records import record


@record
class DataSets:
    """A cache of data sets on the disk."""

    directory: str  # of root, with one for each user
    size_bytes: int  # limit of all copies on a node
    days: int  # after which a copy that no job asked for is removed


@record
class Local(Entry):
    """A local disk. `device`: path, LABEL= or UUID=."""

    device: str
    filesystem: str
    data_sets: DataSets | None

    @property
    def is_shared(self) -> bool:
        return False

    def disk(self) -> Disk:
        return Disk(self.device, self.filesystem)

    @property
    def devices(self) -> tuple[str, ...]:
        return (self.device,)

    @property
    def packages(self) -> tuple[tuple[Scope, str], ...]:
        return (("mount", self.filesystem),)


def resolve(name: str, sections: Mapping[str, manifest.Local], _: Cluster) -> Local:
    section = sections[name]
    stated = section.data_sets
    place = f"{section.mount.rstrip('/')}/{stated.directory}" if stated else ""
    return resolved(
        Local,
        name,
        section,
        data_sets=DataSets(place, stated.size.value, stated.days) if stated else None,
    )


def caching(cluster: Cluster) -> Local | None:
    """The entry with a cache of data sets; a rule refuses a second one."""
    return next((entry for entry in cluster.entries(Local).values() if entry.data_sets), None)


FILE_SYSTEM = FileSystem(
    kind="local",
    lab_packages=("xfs", "ext4"),
)
