"""Local disks as resolved."""

from __future__ import annotations

from clustergen.filesystems.descriptor import FileSystem
from clustergen.filesystems.entry import Entry, Scope, resolved
from clustergen.filesystems.local import model
from clustergen.records import record


@record
class Local(Entry):
    """A local disk. `device`: path, LABEL= or UUID=."""

    device: str
    filesystem: str

    @property
    def devices(self) -> tuple[str, ...]:
        return (self.device,)

    @property
    def packages(self) -> tuple[tuple[Scope, str], ...]:
        return (("mount", self.filesystem),)


def resolve(name: str, section: model.Local, *_: object) -> Local:
    return resolved(Local, name, section)


FILE_SYSTEM = FileSystem(
    kind="local",
    model=model.Local,
    is_shared=False,
    lab_packages=("xfs", "ext4"),
)
