"""Local disks: what the manifest says of it, and what it needs on its nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from clustergen.filesystems.descriptor import FileSystem, Scope
from clustergen.manifest.base import (
    FileSystemDevice,
    field,
)
from clustergen.manifest.mount import Mount
from clustergen.manifest.nodes import Role


class Local(Mount):
    """A local disk of the compute nodes."""

    type: Literal["local"] = field(..., "Kind of file system.")
    clients: tuple[Role, ...] = field(("slurm-compute",), "Roles whose nodes have the disk.")
    device: FileSystemDevice = field(..., "Device, LABEL= or UUID=.", sample="LABEL=scratch")
    filesystem: Literal["xfs", "ext4"] = field("xfs", "Format.")


def _packages(entry: Local) -> Iterator[tuple[Scope, str]]:
    yield "mount", entry.filesystem


FILE_SYSTEM = FileSystem(
    kind="local",
    model=Local,
    devices=lambda entry: (entry.device,),
    is_shared=False,
    entry_packages=_packages,
    lab_packages=("xfs", "ext4"),
)
