"""IBM Storage Scale as resolved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.entry import Entry, Listening, catalogued_ports, resolved
from clustergen.cluster.file_system import FileSystem
from clustergen.cluster.model import Cluster
from clustergen.features.storage.storage_scale import section as manifest
from clustergen.records import record


@record
class StorageScale(Entry):
    """An IBM Storage Scale file system. `remote`: another cluster than that of the clients serves it."""

    filesystem: str
    contacts: tuple[str, ...]
    remote: bool

    @property
    def mount_type(self) -> str:
        return "gpfs"

    @property
    def sources(self) -> tuple[str, ...]:
        return self.contacts

    def listening(self, _: Mapping[str, Entry]) -> Iterator[Listening]:
        return catalogued_ports(("mount", "gpfs"))

    def manual_steps(self, clients: str) -> Iterator[str]:
        yield (
            "Accept IBM's licence, and put its packages of the storage cluster's release into a repository of the site:"
            " repositories_storage_scale_url"
        )
        if self.remote:
            yield f"Join {clients} to your own Storage Scale cluster: mmaddnode -N, then mmchlicense client --accept -N"
            yield (
                f"Mount it from the storage cluster: mmauth on both sides, mmremotecluster add, mmremotefs add"
                f" {self.filesystem} with -T {self.mount} -A yes"
            )
        else:
            yield (
                f"Join {clients} to the storage cluster, on {self.contacts[0]}: mmaddnode -N, then mmchlicense client"
                " --accept -N"
            )
            yield f"Have it mounted at {self.mount} when nodes start: mmchfs {self.filesystem} -T {self.mount} -A yes"
        yield f"Start the daemons with the nodes: mmchconfig autoload=yes; then run site.yml again for {clients}"


def resolve(name: str, sections: Mapping[str, manifest.StorageScale], _: Cluster) -> StorageScale:
    return resolved(StorageScale, name, sections[name])


FILE_SYSTEM = FileSystem(
    kind="storage_scale",
    client_group="storage_scale_client",
    ready_unit="clustergen-storage-scale-{name}.service",
    packages=("kernel_headers", "compiler", "storage_scale"),
    repositories=("storage_scale",),
    lab_units=("clustergen-storage-scale-*", "gpfs*", "mmautoload*"),
    lab_packages=("storage_scale",),
    lab_files=("/etc/systemd/system/clustergen-storage-scale-*", "/var/mmfs/*"),
)
