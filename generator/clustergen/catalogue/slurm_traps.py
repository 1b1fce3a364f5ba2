"""Texts that Slurm's keys take or refuse beyond their type, and values that it complains of."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from clustergen.catalogue.slurm import release_or_none
from clustergen.catalogue.tables import rows
from clustergen.catalogue.versions import SlurmRelease


class SlurmForm(NamedTuple):
    """The form of a key's text, by the name that slurmrules.forms knows, and what a daemon does with any other text."""

    form: str
    beyond: str
    """`stops`, `logs` or `silent`."""


class SlurmTrap(NamedTuple):
    """A key, or a value of it, that Slurm reads and that does no good."""

    pattern: re.Pattern[str]
    since: SlurmRelease | None
    until: SlurmRelease | None
    outcome: str
    """`stops`, `logs` or `silent`."""
    code: str
    """Of a diagnostic."""
    message: str
    hint: str
    instead: str
    """The value in its place; `key:NAME`: another key; `delete`: none at all; empty where a person has to decide."""

    def fits(self, release: SlurmRelease, text: str) -> bool:
        """Whether that release falls into it with this value."""
        if (self.since is not None and release < self.since) or (self.until is not None and release >= self.until):
            return False
        return bool(self.pattern.search(text))


@cache
def _forms() -> dict[tuple[str, str, str], SlurmForm]:
    return {
        (r["file"], r["block"], r["key"].lower()): SlurmForm(r["form"], r["beyond"]) for r in rows("slurm_forms.tsv")
    }


def form(file: str, key: str, block: str = "") -> SlurmForm | None:
    """The form of a key's text; None where its type says all."""
    return _forms().get((file, block, key.lower()))


@cache
def _traps() -> dict[tuple[str, str, str], tuple[SlurmTrap, ...]]:
    traps: dict[tuple[str, str, str], tuple[SlurmTrap, ...]] = {}
    for r in rows("slurm_traps.tsv"):
        place = r["file"], r["block"], r["key"].lower()
        trap = SlurmTrap(
            pattern=re.compile(r["pattern"], re.IGNORECASE),
            since=release_or_none(r["since"]),
            until=release_or_none(r["until"]),
            outcome=r["outcome"],
            code=r["code"],
            message=r["message"],
            hint=r["hint"],
            instead=r["instead"],
        )
        traps[place] = (*traps.get(place, ()), trap)
    return traps


def traps(file: str, key: str, block: str = "") -> tuple[SlurmTrap, ...]:
    """What is known to go wrong with that key."""
    return _traps().get((file, block, key.lower()), ())


class NeverKey(NamedTuple):
    """What is meant by a name that articles show as a key of slurm.conf and that no release has."""

    hint: str
    """In Slurm's own files."""
    manifest: str
    """In the manifest."""


@cache
def _never_there() -> dict[str, NeverKey]:
    return {r["name"].lower(): NeverKey(r["hint"], r["manifest"]) for r in rows("slurm_never_keys.tsv")}


def never_there(name: str) -> NeverKey | None:
    """What is meant by such a name, in any case; None for any other name."""
    return _never_there().get(name.lower())
