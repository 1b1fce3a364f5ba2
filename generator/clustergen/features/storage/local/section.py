"""Local disks: what the manifest says of it."""

from typing import Literal

from clustergen.catalogue.roles import Role
from clustergen.manifest.base import (
    FileSystemDevice,
    field,
)
from clustergen.manifest.mount import Mount


class Local(Mount):
    """A local disk of the compute nodes."""

    type: Literal["local"] = field(..., "Kind of file system.")
    clients: tuple[Role, ...] = field(("slurm-compute",), "Roles whose nodes have the disk.")
    device: FileSystemDevice = field(..., "Device, LABEL= or UUID=.", sample="LABEL=scratch")
    filesystem: Literal["xfs", "ext4"] = field("xfs", "Format.")


PLACES = {"storage.*.local": Local}
