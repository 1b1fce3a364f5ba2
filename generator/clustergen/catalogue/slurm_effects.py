"""What a changed key of Slurm's files needs to come into effect, and which pending jobs it leaves waiting."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from clustergen.catalogue.slurm import release_or_none
from clustergen.catalogue.tables import rows
from clustergen.catalogue.versions import SlurmRelease


class SlurmEffect(NamedTuple):
    """What a change takes. `effect` is what it is called by; `also` what has to be done besides."""

    effect: str
    note: str
    also: tuple[str, ...] = ()
    everywhere: bool = False
    """On every node that runs the daemon, not only on those that the change is about."""
    page: str = ""
    """Where the documentation says so."""
    source: str = ""
    row: str = ""
    """Which row of slurm_effects.tsv it is, as `row_name` has it."""


def row_name(row: Mapping[str, str]) -> str:
    """The name of a row of slurm_effects.tsv: `slurm.conf NodeName Gres type until 23.11`."""
    words = [row["file"], row["block"], row["key"], row["what"], f"until {row['until']}" if row["until"] else ""]
    return " ".join(word for word in words if word)


@cache
def _effects() -> list[tuple[dict[str, str], SlurmRelease | None]]:
    return [(row, release_or_none(row["until"])) for row in rows("slurm_effects.tsv")]


@cache
def effect(file: str, key: str, release: SlurmRelease, block: str = "", what: str = "") -> SlurmEffect:
    """What a change of the key needs, by the words of `render.effects`. `file` is a bare name; `what` says more of the
    change, as the header of slurm_effects.tsv explains.
    """
    word = what.lower()
    words = ("", word, f"* to {word.rpartition(' to ')[2]}")
    for row, until in _effects():
        if (
            row["file"] in ("*", file)
            and row["block"] in ("*", block)
            and (row["key"] == "*" or row["key"].lower() == key.lower())
            and row["what"].lower() in words
            and (until is None or release < until)
        ):
            first, *also = row["effect"].split()
            everywhere = row["scope"] == "all"
            return SlurmEffect(first, row["note"], tuple(also), everywhere, row["page"], row["source"], row_name(row))
    raise LookupError("slurm_effects.tsv has no last row for everything else")


class SlurmWaiting(NamedTuple):
    """Pending jobs that a change leaves waiting, or that fail when they start."""

    text: str
    """With {name}, {old} and {new} of the change."""
    reason: str
    """As squeue shows it."""


@cache
def _waiting() -> list[tuple[dict[str, str], SlurmRelease | None]]:
    return [(row, release_or_none(row["until"])) for row in rows("slurm_waiting.tsv")]


@cache
def waiting(file: str, key: str, release: SlurmRelease, block: str, what: tuple[str, ...]) -> tuple[SlurmWaiting, ...]:
    """What a change does to pending jobs; the arguments are as in `effect`, with all words of `what` at once."""
    words = {word.lower() for word in what}
    return tuple(
        SlurmWaiting(row["waiting"], row["reason"])
        for row, until in _waiting()
        if row["file"] == file
        and row["block"] == block
        and (row["key"] == "*" or row["key"].lower() == key.lower())
        and (not row["what"] or words & set(row["what"].split()))
        and (until is None or release < until)
    )
