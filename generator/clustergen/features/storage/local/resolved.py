"""Local disks as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.entry import Disk, Entry, Scope, resolved
from clustergen.cluster.file_system import FileSystem
from clustergen.cluster.model import Cluster
from clustergen.features.storage.local import section as manifest
from clustergen.records import record


@record
class Local(Entry):
    """A local disk. `device`: path, LABEL= or UUID=."""

    device: str
    filesystem: str

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
    return resolved(Local, name, sections[name])


FILE_SYSTEM = FileSystem(
    kind="local",
    lab_packages=("xfs", "ext4"),
)
