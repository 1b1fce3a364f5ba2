"""JuiceFS as resolved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from clustergen.cluster.entry import Entry, Listening, SecretFile, resolved
from clustergen.cluster.file_system import FileSystem
from clustergen.records import record
from clustergen_juicefs import section as manifest

if TYPE_CHECKING:
    from clustergen.cluster.model import Cluster


@record
class JuiceFs(Entry):
    """A JuiceFS file system. `metadata`: URL of its engine; `password`: the site gives one."""

    metadata: str
    password: bool
    cache: str
    cache_mib: int
    port: int

    @property
    def sources(self) -> tuple[str, ...]:
        host = self.metadata.partition("://")[2].partition("/")[0].rpartition("@")[2]
        return (host.partition(":")[0],)

    @property
    def secret(self) -> SecretFile | None:
        return SecretFile(f"/etc/juicefs/{self.name}.env", "0600") if self.password else None

    def listening(self, _: Mapping[str, Entry]) -> Iterator[Listening]:
        yield Listening("mount", "JuiceFS metrics", str(self.port), ("tcp",))

    def manual_steps(self, clients: str) -> Iterator[str]:
        yield f"install juicefs on {clients}, and link /sbin/mount.juicefs to it"
        if self.password:
            yield f"the secret {self.name} is a line META_PASSWORD=…"


def resolve(name: str, sections: Mapping[str, manifest.JuiceFs], _: Cluster) -> JuiceFs:
    return resolved(JuiceFs, name, sections[name], cache_mib=sections[name].cache_size.mib)


FILE_SYSTEM = FileSystem(kind="juicefs", client_group="juicefs_client", packages=("juicefs_client",))
