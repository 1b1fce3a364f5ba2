"""Values of Slurm's keys that it complains of or that do no good, and names of keys that it never had."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from clustergen.catalogue.tables import keyed, table
from clustergen.catalogue.versions import SlurmRelease
from clustergen.records import record


@record
class SlurmTrap:
    """A key, or a value of it, that Slurm reads and that does no good."""

    file: str
    block: str
    key: str
    pattern: re.Pattern[str]
    since: SlurmRelease | None
    until: SlurmRelease | None
    outcome: Literal["stops", "logs", "silent", "advice"]
    code: str
    """Of a diagnostic."""
    message: str
    hint: str
    instead: str
    """The value in its place; `key:NAME`: another key; `delete`: none at all; empty where a person has to decide."""

    def fits(self, release: SlurmRelease, text: str) -> bool:
        """True if that release falls into it with this value."""
        if (self.since is not None and release < self.since) or (self.until is not None and release >= self.until):
            return False
        return bool(self.pattern.search(text))


@cache
def _traps() -> dict[tuple[str, str, str], tuple[SlurmTrap, ...]]:
    traps: dict[tuple[str, str, str], tuple[SlurmTrap, ...]] = {}
    for trap in table("slurm_traps.tsv", SlurmTrap, pattern=lambda text: re.compile(text, re.IGNORECASE)):
        place = trap.file, trap.block, trap.key.lower()
        traps[place] = (*traps.get(place, ()), trap)
    return traps


def traps(file: str, key: str, block: str = "") -> tuple[SlurmTrap, ...]:
    """Known problems of that key."""
    return _traps().get((file, block, key.lower()), ())


@record
class NeverKey:
    """The right name for one that articles show as a key of slurm.conf and that no release has."""

    name: str
    hint: str
    """In Slurm's own files."""
    manifest: str
    """In the manifest."""


_never_there = keyed("slurm_never_keys.tsv", NeverKey, lambda row: row.name.lower())


def never_there(name: str) -> NeverKey | None:
    """The right name for such a name, in any case; None for any other name."""
    return _never_there().get(name.lower())
