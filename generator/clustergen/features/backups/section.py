"""Backups of Slurm's database and of the state of slurmctld."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import NOT_EMPTY, AbsolutePath, Section, field


class Backups(Section):
    """Regular backups of what a cluster cannot compute again: the accounting database and StateSaveLocation."""

    directory: AbsolutePath = field(
        ..., "Existing directory of SlurmUser, mode 0700, on a file system that other machines serve."
    )
    database: Literal["hour", "day"] = field("day", "How often the database is dumped.")
    state: Literal["hour", "day"] = field("hour", "How often StateSaveLocation is copied.")
    keep_days: Annotated[int, Field(ge=1, le=3650)] = field(
        14, "Days after which a backup is removed; the last three always stay."
    )


PLACES = {
    "backups": (
        Annotated[Backups | None, NOT_EMPTY],
        field(None, "Backups of the accounting database and of slurmctld's state; none unless the section is present."),
    )
}
