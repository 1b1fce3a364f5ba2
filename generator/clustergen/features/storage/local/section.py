"""Local disks: what the manifest says of it."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from clustergen.catalogue.roles import Role
from clustergen.manifest.base import POSITIVE, FileSystemDevice, Name, Section, field
from clustergen.manifest.mount import Mount
from clustergen.units import Bytes


class DataSets(Section):
    """A cache of data sets on each node's disk, which clustergen-data-set fills in jobs."""

    directory: Name = field("data-sets", "Directory below the mount, with one for each user.")
    size: Annotated[Bytes, POSITIVE] = field(
        ...,
        "Limit of all copies on a node: above it, those that were not used for longest are removed.",
        sample="500GB",
    )
    days: Annotated[int, Field(ge=1, le=3650)] = field(30, "A copy that no job asked for in so many days is removed.")


class Local(Mount):
    """A local disk of the compute nodes."""

    OTHER_NAMES: ClassVar = {
        **Mount.OTHER_NAMES,
        **dict.fromkeys(("fstype", "fs", "format"), "filesystem"),
        **dict.fromkeys(("devices", "disk", "disks", "dev", "blockdevice", "partition"), "device"),
    }
    type: Literal["local"] = field(..., "Kind of file system.")
    clients: tuple[Role, ...] = field(("slurm-compute",), "Roles whose nodes have the disk.")
    device: FileSystemDevice = field(..., "Device, LABEL= or UUID=.", sample="LABEL=scratch")
    filesystem: Literal["xfs", "ext4"] = field("xfs", "Format.")
    data_sets: DataSets | None = field(None, "Cache of data sets, for jobs of one user; default: none.")


PLACES = {"storage.*.local": Local}
