"""Directories of each job's own."""

from typing import Annotated

from pydantic import Field

from clustergen.manifest.base import NOT_EMPTY, AbsolutePath, Section, field


class PrivateTmp(Section):
    """Directories of each job's own: job_container/tmpfs, which is called namespace/tmpfs from Slurm 25.11 on."""

    path: AbsolutePath = field(
        "/var/lib/job_container", "BasePath: local directory that holds the /tmp of running jobs; local NVMe is best."
    )
    directories: Annotated[tuple[AbsolutePath, ...], Field(min_length=1)] = field(
        ("/tmp", "/dev/shm"),
        "Dirs: directories that are private to each job. Other values than the default require Slurm 23.02.",
    )
    shared: bool = field(
        False, "Shared: jobs see file systems that are mounted while they run, as autofs does; from Slurm 23.02 on."
    )


PLACES = {
    "slurm.private_tmp": (
        Annotated[PrivateTmp | None, NOT_EMPTY],
        field(None, "Private /tmp and /dev/shm for each job; none unless the section is present, which can be {}."),
    )
}
