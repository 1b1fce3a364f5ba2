"""Quotas of a file system: hard limits of space and files, by user, group, project or directory."""

from typing import Annotated, ClassVar

from pydantic import Field

from clustergen.manifest.base import AbsolutePath, Section, UserName, field
from clustergen.units import Bytes

Files = Annotated[int, Field(ge=1, le=10**15)]
ProjectId = Annotated[int, Field(ge=1, le=4294967294)]


class Limits(Section):
    """Limits; one of the two is required."""

    MEANT_BY_SCALAR: ClassVar = "space"
    OTHER_NAMES: ClassVar = {"hard": "space", "limit": "space", "size": "space", "bytes": "space", "inodes": "files"}
    space: Bytes | None = field(None, "Maximum space, a multiple of 1 KiB; default: no limit.")
    files: Files | None = field(None, "Maximum number of files and directories; default: no limit.")


class OwnerQuota(Limits):
    """Limits of one user or group."""

    user: UserName | None = field(None, "User.")
    group: UserName | None = field(None, "Group.")


class ProjectQuota(OwnerQuota):
    """Limits of one user, group or project; a project is a number that files below its directory have."""

    project: ProjectId | None = field(None, "Project.")
    directory: AbsolutePath | None = field(None, "Existing directory of the project, below the mount point.")


class DirectoryQuota(Limits):
    """Limits of one directory with all that is below it."""

    directory: AbsolutePath = field(..., "Existing directory, below the mount point.", sample="/scratch/projects")


Quota = OwnerQuota | DirectoryQuota


def subject(quota: Quota) -> tuple[str, str]:
    """The subject of the limits: kind and name; two empty words where not exactly one is stated."""
    if isinstance(quota, DirectoryQuota):
        return "directory", quota.directory
    stated = [(key, value) for key in ("user", "group", "project") if (value := getattr(quota, key, None)) is not None]
    return (stated[0][0], str(stated[0][1])) if len(stated) == 1 else ("", "")
