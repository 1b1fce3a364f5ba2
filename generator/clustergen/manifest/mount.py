"""Fields of every file system: where it is mounted, on which nodes, and how."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from clustergen.catalogue.roles import Role
from clustergen.manifest.base import AbsolutePath, Name, Section, field, text
from clustergen.units import ByteRate

MountOption = Annotated[
    str,
    text(
        r"^[A-Za-z0-9_][A-Za-z0-9_.:-]*(=[A-Za-z0-9_./:+@-]+)?$",
        "write one option or option=value, without commas: noatime",
        255,
    ),
]
FileSystemName = Annotated[str, text(r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", "use letters, digits, _ . and -", 63)]
"""A file system or user of one, as its servers name it."""


class Mount(Section):
    """Fields of all file systems."""

    if TYPE_CHECKING:
        type: str  # each kind has its own word

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("mountpoint", "mountpath", "mountdir", "mountdirectory", "target", "dest", "path"), "mount"),
        **dict.fromkeys(("kind", "fstype", "filesystemtype", "driver", "protocol"), "type"),
        **dict.fromkeys(("opts", "mountoptions", "mountopts", "flags"), "options"),
        **dict.fromkeys(("ro", "readonly"), "read_only"),
        **dict.fromkeys(("types", "nodetype", "onlytypes"), "node_types"),
    }

    mount: AbsolutePath = field(..., "Mount point on the nodes.", sample="/scratch")
    clients: tuple[Role, ...] = field(("slurm-compute", "login"), "Roles whose nodes mount it.")
    node_types: tuple[Name, ...] = field((), "Of these nodes, only those of these types; default: all.")
    required: bool = field(True, "Slurm starts only when it is mounted; false: jobs can run without it.")
    options: tuple[MountOption, ...] = field((), "More mount options.")
    read_only: bool = field(False, "Mount read-only.")
    bandwidth: ByteRate | None = field(
        None, "Write bandwidth of the file system, as 40GB/s; for the time of a checkpoint in facility/README.md."
    )
