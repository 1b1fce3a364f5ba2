"""Keys of Slurm's files that name programs and plugins, and as whom these run."""

from __future__ import annotations

from typing import Literal

from clustergen.catalogue.tables import keyed
from clustergen.records import record


@record
class SlurmProgram:
    """One key. The table's head explains its words."""

    file: str
    block: str
    key: str
    user: Literal["root", "SlurmUser", "user"]
    form: Literal["program", "directories", "configuration", "words"]
    condition: str


_by_key = keyed("slurm_programs.tsv", SlurmProgram, lambda row: (row.file, row.block, row.key.lower()))


def program(file: str, block: str, key: str) -> SlurmProgram | None:
    """The key in any case, of a line that `block` opens; None where it names no program."""
    return _by_key().get((file, block, key.lower()))
