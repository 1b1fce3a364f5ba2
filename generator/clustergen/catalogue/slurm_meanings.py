"""What the values of Slurm's keys mean: which texts are the same to it, and what it takes for a key that is absent."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from clustergen.catalogue import slurm, slurm_values
from clustergen.catalogue.tables import cells
from clustergen.catalogue.versions import SlurmRelease


class Meaning(NamedTuple):
    """How a value of one key is read. `form` is a word of slurm_meanings.tsv, or the parser's type of the key."""

    form: str
    default: str = ""
    """For lines other than slurm.conf's own, whose defaults depend on the release."""
    same: tuple[tuple[str, str], ...] = ()
    """Word, in lower case → the word that it means as well; an empty one where it is as good as absent."""


_PARSED = ("boolean", "uint16", "uint32", "uint64", "long", "float")


@cache
def _rows() -> dict[tuple[str, str, str], tuple[str, str, str]]:
    _, lines = cells("slurm_meanings.tsv")
    return {(file, block, key.lower()): (form, default, same) for file, block, key, form, default, same, _ in lines}


@cache
def meaning(file: str, block: str, key: str) -> Meaning:
    """The key of a file (`slurm.conf`) on lines that `block` opens; a plain text for one that nobody knows."""
    form, default, same = _rows().get((file, block, key.lower()), ("", "", ""))
    if not form:
        row = slurm.key(file, key, block)
        if row is not None and row.type in _PARSED:
            form = row.type
        elif file == "slurm.conf" and slurm_values.has_tokens(key):
            form = "set"
        elif file == "slurm.conf" and not block and slurm_values.has_plugins(key):
            form = "plugin in full"
        else:
            form = "text"
    pairs: list[tuple[str, str]] = []
    for group in same.split():
        first, *others = group.lower().split("=")
        pairs += [(other, first) for other in others if other]
        if others == [""]:
            pairs.append((first, ""))
    return Meaning(form, default, tuple(pairs))


def default(file: str, block: str, key: str, release: SlurmRelease) -> str | None:
    """What the release takes where the key is left out; None where nothing is known of it."""
    value = slurm_values.default(key, release) if file == "slurm.conf" and not block else None
    return value or meaning(file, block, key).default or None


@cache
def spelled(file: str, block: str, key: str) -> tuple[str, ...]:
    """The key, in any case, as the catalogue writes it; an old name is the key (or keys) that it stands for."""
    form = _rows().get((file, block, key.lower()), ("", "", ""))[0]
    if form.startswith("is "):
        return tuple(form.split()[1:])
    row = slurm.key(file, key, block)
    return (row.key if row is not None else key,)
