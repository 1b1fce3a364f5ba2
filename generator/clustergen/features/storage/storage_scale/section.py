"""IBM Storage Scale: what the manifest says of it.

Its daemon mounts the file system, by what the storage cluster has recorded: there is no mount unit.
Joining the cluster and the licence are up to people.
"""

from typing import ClassVar, Literal

from clustergen.manifest.base import Host, field
from clustergen.manifest.mount import FileSystemName, Mount


class StorageScale(Mount):
    """An IBM Storage Scale (GPFS) file system, which the client's own daemon mounts."""

    OTHER_NAMES: ClassVar = {
        **Mount.OTHER_NAMES,
        **dict.fromkeys(("server", "servers", "host", "hosts", "contact"), "contacts"),
        **dict.fromkeys(("device", "fs", "fsname", "filesystemname", "name"), "filesystem"),
    }
    type: Literal["storage_scale"] = field(..., "Kind of file system.")
    filesystem: FileSystemName = field(..., "Name of the file system on the clients, as mmlsfs or mmremotefs show it.")
    contacts: tuple[Host, ...] = field(
        ..., "Nodes of the storage cluster that clients must reach.", sample="[10.0.0.21, 10.0.0.22]", min_length=1
    )
    remote: bool = field(
        False,
        "Served by another Storage Scale cluster than the one that the clients belong to, and mounted by mmremotefs.",
    )


PLACES = {"storage.*.storage_scale": StorageScale}
