"""The cache of NFS files, as written."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import NOT_EMPTY, FileSystemDevice, Section, field

Percent = Annotated[int, Field(ge=0, le=99)]


class FileCache(Section):
    """The cache of NFS files on disks with `use: cache`. Limits are percents that are free, of space and of files."""

    device: FileSystemDevice = field("LABEL=fscache", "File system of the cache: device, LABEL= or UUID=.")
    filesystem: Literal["xfs", "ext4"] = field("xfs", "Its format.")
    brun: Percent = field(10, "With more free than that, nothing is removed.")
    bcull: Percent = field(7, "With less free than that, files that were not read for longest are removed.")
    bstop: Percent = field(3, "With less free than that, nothing is added.")


PLACES = {
    "host.file_cache": (
        Annotated[FileCache | None, NOT_EMPTY],
        field(None, "Cache of NFS files on disks with `use: cache`; such disks have it without the section."),
    )
}
