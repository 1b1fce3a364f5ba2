"""IBM Storage Scale: what the manifest says of it, and what it needs on its nodes.

Its daemon mounts the file system, by what the storage cluster has recorded: there is no mount unit.
Joining the cluster and the licence are up to people.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from clustergen.filesystems.descriptor import FileSystem, Unread, catalogued_ports
from clustergen.manifest.base import Host, field
from clustergen.manifest.mount import FileSystemName, Mount


class StorageScale(Mount):
    """An IBM Storage Scale (GPFS) file system, which the client's own daemon mounts."""

    type: Literal["storage_scale"] = field(..., "Kind of file system.")
    filesystem: FileSystemName = field(..., "Name of the file system on the clients, as mmlsfs or mmremotefs show it.")
    contacts: tuple[Host, ...] = field(
        ..., "Nodes of the storage cluster that clients must reach.", sample="[10.0.0.21, 10.0.0.22]", min_length=1
    )
    remote: bool = field(
        False,
        "Served by another Storage Scale cluster than the one that the clients belong to, and mounted by mmremotefs.",
    )


def _manual_steps(_: str, entry: StorageScale, clients: str) -> Iterator[str]:
    yield (
        "Accept IBM's licence, and put its packages of the storage cluster's release into a repository of the site:"
        " repositories_storage_scale_url"
    )
    if entry.remote:
        yield (f"Join {clients} to your own Storage Scale cluster: mmaddnode -N, then mmchlicense client --accept -N")
        yield (
            f"Mount it from the storage cluster: mmauth on both sides, mmremotecluster add, mmremotefs add"
            f" {entry.filesystem} with -T {entry.mount} -A yes"
        )
    else:
        yield (
            f"Join {clients} to the storage cluster, on {entry.contacts[0]}: mmaddnode -N, then mmchlicense client"
            " --accept -N"
        )
        yield f"Have it mounted at {entry.mount} when nodes start: mmchfs {entry.filesystem} -T {entry.mount} -A yes"
    yield f"Start the daemons with the nodes: mmchconfig autoload=yes; then run site.yml again for {clients}"


FILE_SYSTEM = FileSystem(
    kind="storage_scale",
    model=StorageScale,
    mount_type=lambda _: "gpfs",
    sources=lambda entry: entry.contacts,
    client_group="storage_scale_client",
    ready_unit="clustergen-storage-scale-{name}.service",
    manual_steps=_manual_steps,
    packages=("kernel_headers", "compiler", "storage_scale"),
    listening=catalogued_ports(("mount", "gpfs")),
    unread=(
        Unread(
            "storage scale",
            "Storage Scale: mount options of a node",
            "mmfsd",
            "Storage Scale is in no distribution, and its daemon reads them when it mounts the file system.",
            ("/var/mmfs/etc/*",),
        ),
    ),
    lab_units=("clustergen-storage-scale-*", "gpfs*", "mmautoload*"),
    lab_packages=("storage_scale",),
    lab_files=("/etc/systemd/system/clustergen-storage-scale-*", "/var/mmfs/*"),
)
