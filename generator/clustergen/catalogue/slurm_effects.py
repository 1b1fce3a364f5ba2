"""The steps by which a changed key of Slurm's files comes into effect."""

from __future__ import annotations

from functools import cache
from typing import Literal

from clustergen.catalogue import slurm
from clustergen.catalogue.tables import listed, rows
from clustergen.catalogue.versions import SlurmRelease
from clustergen.records import record


@record
class SlurmEffect:
    """The steps that a change of a key requires: one row of slurm_effects.tsv, whose header explains the columns."""

    file: str
    block: str
    key: str
    what: str
    until: SlurmRelease | None
    """Only for releases before this one."""
    effect: tuple[str, ...]
    """By the words of `render.effects`: what the change is called by, and what has to be done besides."""
    scope: Literal["all", ""]
    unmeasured: str
    """Why no change on a running Slurm has shown it."""
    note: str
    page: str
    """Where the documentation says so."""
    source: str

    @property
    def is_everywhere(self) -> bool:
        """True if it is for every node that runs the daemon, not only for those that the change is about."""
        return self.scope == "all"

    @property
    def name(self) -> str:
        """The name of the row: `slurm.conf NodeName Gres type until 23.11`."""
        words = [self.file, self.block, self.key, self.what, f"until {self.until}" if self.until else ""]
        return " ".join(word for word in words if word)


Knowledge = Literal["measured", "read", "unknown"]
"""How an effect is known: from a change on a running Slurm, from documentation or source code, or not at all."""
_REREADS_ALL = SlurmRelease("23.11")
"""From here on daemons start anew at a reconfigure; before, what they reread depends on the key."""


effects = listed("slurm_effects.tsv", SlurmEffect)
"""All rows, in the order in which they count."""


@cache
def effect(file: str, key: str, release: SlurmRelease, block: str = "", what: str = "") -> SlurmEffect:
    """The first row that matches a change of the key. `file` is a bare name, and `what` says more of the change, as the
    header of slurm_effects.tsv explains.
    """
    word = what.lower()
    words = ("", word, f"* to {word.rpartition(' to ')[2]}")
    for row in effects():
        if (
            row.file in ("*", file)
            and row.block in ("*", block)
            and (row.key == "*" or row.key.lower() == key.lower())
            and row.what.lower() in words
            and (row.until is None or release < row.until)
        ):
            return row
    raise LookupError("slurm_effects.tsv has no last row for everything else")


@cache
def _measured() -> frozenset[tuple[str, str]]:
    """Keys and the releases on which a change of them was made."""
    return frozenset(
        (key, release)
        for row in rows("slurm_effects_measured.tsv")
        for release in row["release"].split()
        for key in row["keys"].split("; ")
        if key
    )


def label(file: str, block: str, key: str) -> str:
    """`slurm.conf NodeName Gres`."""
    return " ".join(word for word in (file, block, key) if word)


def how_known(file: str, key: str, release: SlurmRelease, block: str = "") -> Knowledge:
    """How the effect of a change of the key is known; of the words of `effect`, the weakest counts."""
    if (label(file, block, key), str(release)) in _measured():
        return "measured"
    is_guess = effect(file, key, release, block).file == "*"
    if is_guess and (release < _REREADS_ALL or slurm.key(file, key, block) is None):
        return "unknown"
    return "read"
