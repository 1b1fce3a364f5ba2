"""WekaFS as resolved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.filesystems.descriptor import FileSystem, Unread
from clustergen.filesystems.entry import Entry, Listening, catalogued_ports, resolved
from clustergen.filesystems.weka import model
from clustergen.records import record

_USUAL_CORES = 2


@record
class Weka(Entry):
    """A WekaFS file system. `cores`: of each client that has interfaces; no `interfaces`: those of the node type."""

    backends: tuple[str, ...]
    filesystem: str
    interfaces: tuple[str, ...]
    cores: int
    mode: str | None

    @property
    def mount_type(self) -> str:
        return "wekafs"

    @property
    def sources(self) -> tuple[str, ...]:
        return self.backends

    def listening(self, _: Mapping[str, Entry]) -> Iterator[Listening]:
        return catalogued_ports(("mount", "weka"))


def resolve(name: str, section: model.Weka, *_: object) -> Weka:
    return resolved(Weka, name, section, cores=section.cores or _USUAL_CORES)


FILE_SYSTEM = FileSystem(
    kind="weka",
    model=model.Weka,
    client_group="weka_client",
    packages=("kernel_headers", "compiler"),
    paths=("/etc/wekaio/service.conf",),
    monitored_units=("weka-agent",),
    unread=(
        Unread(
            "weka agent",
            "Weka agent",
            "weka",
            "Weka's agent comes from the storage cluster itself.",
            ("/etc/wekaio/*",),
        ),
    ),
    lab_units=("weka-*",),
    lab_files=("/etc/wekaio/*",),
)
