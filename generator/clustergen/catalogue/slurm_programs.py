"""Keys of Slurm's files that name programs and plugins, and as whom these run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from clustergen.catalogue.tables import table
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


@cache
def _by_key() -> Mapping[tuple[str, str, str], SlurmProgram]:
    return {(row.file, row.block, row.key.lower()): row for row in table("slurm_programs.tsv", SlurmProgram)}


def program(file: str, block: str, key: str) -> SlurmProgram | None:
    """The key in any case, of a line that `block` opens; None where it names no program."""
    return _by_key().get((file, block, key.lower()))
