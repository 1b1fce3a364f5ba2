"""Jobs that a change of Slurm's files affects: pending ones that wait for ever, running ones that may end early."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from clustergen.catalogue.tables import table
from clustergen.catalogue.versions import SlurmRelease
from clustergen.records import record


class AffectedJobs(NamedTuple):
    """Jobs that a change affects although no step of applying it is about them."""

    text: str
    """With {name}, {old} and {new} of the change."""
    state: str
    """The state that squeue or sacct shows: the reason of a pending job, the end of one that was running."""
    condition: str = ""
    """The settings of slurm.conf that it requires, in the form of slurm_running.tsv; empty: none."""


@record
class JobRule:
    """Which changes affect jobs: a row of slurm_waiting.tsv or slurm_running.tsv."""

    file: str
    block: str
    key: str
    what: tuple[str, ...]
    until: SlurmRelease | None
    text: str
    state: str
    condition: str = ""


@cache
def rules(name: str) -> tuple[JobRule, ...]:
    """All rows of slurm_waiting.tsv or slurm_running.tsv."""
    return tuple(table(name, JobRule))


@cache
def waiting(file: str, key: str, release: SlurmRelease, block: str, what: tuple[str, ...]) -> tuple[AffectedJobs, ...]:
    """Pending jobs that a change leaves waiting; the arguments are those of `effect`, with all words of `what`."""
    return tuple(_matching("slurm_waiting.tsv", file, key, release, block, what))


@cache
def running(file: str, key: str, release: SlurmRelease, block: str, what: tuple[str, ...]) -> tuple[AffectedJobs, ...]:
    """Running jobs that a change may end, or treats otherwise from then on; the arguments are those of `waiting`."""
    return tuple(_matching("slurm_running.tsv", file, key, release, block, what))


def _matching(
    name: str, file: str, key: str, release: SlurmRelease, block: str, what: tuple[str, ...]
) -> Iterator[AffectedJobs]:
    words = [word.lower() for word in what]
    for row in rules(name):
        if (
            row.file == file
            and row.block == block
            and (row.key == "*" or row.key.lower() == key.lower())
            and (not row.what or any(fnmatchcase(word, each) for each in row.what for word in words))
            and (row.until is None or release < row.until)
        ):
            yield AffectedJobs(row.text, row.state, row.condition)
