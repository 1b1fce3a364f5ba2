"""Meanings of the values of Slurm's keys: texts that Slurm treats alike, and the default of an absent key."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from clustergen.catalogue import slurm, slurm_values
from clustergen.catalogue.tables import cells, row_reader
from clustergen.catalogue.versions import SlurmRelease
from clustergen.records import record, replace


@record
class Meaning:
    """How a value of one key is read. `form` is a word of slurm_meanings.tsv, or the parser's type of the key."""

    form: str
    default: str = ""
    """For lines other than slurm.conf's own, whose defaults depend on the release."""
    same: tuple[tuple[str, str], ...] = ()
    """Word, in lower case → the word that it means as well; an empty one where it is as good as absent."""


_PARSED = ("boolean", "uint16", "uint32", "uint64", "long", "float")


def _same(text: str) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    for group in text.lower().split():
        first, *others = group.split("=")
        pairs += [(other, first) for other in others if other]
        if others == [""]:
            pairs.append((first, ""))
    return tuple(pairs)


@cache
def _rows() -> tuple[Callable[..., Meaning], dict[tuple[str, str, str], list[str]]]:
    """The reader that makes a meaning of a row; and file, block and key in lower case → the row."""
    header, lines = cells("slurm_meanings.tsv")
    index = {(row[0], row[1], row[2].lower()): row for row in lines}
    return row_reader("slurm_meanings.tsv", header, Meaning, same=_same), index


@cache
def _stated(file: str, block: str, lower: str) -> Meaning:
    """The meaning of a key as the table states it; an empty form if the table has no row or no form for it."""
    read, index = _rows()
    row = index.get((file, block, lower))
    return read(row) if row is not None else Meaning("")


@cache
def meaning(file: str, block: str, key: str) -> Meaning:
    """The key of a file (`slurm.conf`) on lines that `block` opens; a plain text for one that nobody knows."""
    stated = _stated(file, block, key.lower())
    if stated.form:
        return stated
    row = slurm.key(file, key, block)
    if row is not None and row.type in _PARSED:
        form = row.type
    elif file == "slurm.conf" and slurm_values.has_tokens(key):
        form = "set"
    elif file == "slurm.conf" and not block and slurm_values.has_plugins(key):
        form = "plugin in full"
    else:
        form = "text"
    return replace(stated, form=form)


def default(file: str, block: str, key: str, release: SlurmRelease) -> str | None:
    """The release's default of an absent key; None if it is not known."""
    value = slurm_values.default(key, release) if file == "slurm.conf" and not block else None
    return value or meaning(file, block, key).default or None


@cache
def spelled(file: str, block: str, key: str) -> tuple[str, ...]:
    """The key, in any case, as the catalogue writes it; an old name is the key (or keys) that it stands for."""
    form = _stated(file, block, key.lower()).form
    if form.startswith("is "):
        return tuple(form.split()[1:])
    row = slurm.key(file, key, block)
    return (row.key if row is not None else key,)
