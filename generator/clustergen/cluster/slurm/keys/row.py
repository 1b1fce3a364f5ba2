"""Keys as a topic yields them, and the words and keys that a release of Slurm knows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clustergen.catalogue.slurm import key as catalogue_key
from clustergen.catalogue.slurm_values import token as catalogue_token
from clustergen.catalogue.versions import SlurmRelease

Value = str | int | float


class Row(NamedTuple):
    """A key that a topic sets: left out without a value (None or empty), and where the release does not know it."""

    key: str
    value: Value | None
    reason: str = ""
    always: bool = False
    """Where Slurm's own defaults hold, too, as it follows from nodes and roles or has a switch of its own. Of the other
    keys, only those whose field the manifest sets are in effect there.
    """


def knows(file: str, key: str, release: SlurmRelease, block: str = "") -> bool:
    """True if daemons of that release read the key without complaint."""
    row = catalogue_key(file, key, block)
    return row is not None and row.state(release) == "known"


def words(key: str, requested: Iterable[str], release: SlurmRelease) -> str:
    """A list value of the words that the release knows, each once; others are ignored without a sound, or fatal."""
    accepted = [
        word for word in requested if (row := catalogue_token(key, word)) is None or row.state(release) == "known"
    ]
    return ",".join(dict.fromkeys(accepted))
