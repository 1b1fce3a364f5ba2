"""Meanings of the values of Slurm's keys: texts that Slurm treats alike, and old names of keys."""

from __future__ import annotations

from functools import cache

from clustergen.catalogue import slurm, slurm_values
from clustergen.records import record


@record
class Meaning:
    """How a value of one key is read. `form` is a meaning in slurm_keys.tsv, or the parser's type of the key."""

    form: str
    same: tuple[tuple[str, str], ...] = ()
    """Word, in lower case → the word that it means as well; an empty one where it is as good as absent."""


_PARSED = ("boolean", "uint16", "uint32", "uint64", "long", "float")


@cache
def meaning(file: str, block: str, key: str) -> Meaning:
    """The key of a file (`slurm.conf`) on lines that `block` opens; a plain text for one that nobody knows."""
    row = slurm.key(file, key, block)
    if row is not None and (row.meaning or row.type in _PARSED):
        form = row.meaning or row.type
    elif file == "slurm.conf" and slurm_values.has_tokens(key):
        form = "set"
    elif file == "slurm.conf" and not block and slurm_values.has_plugins(key):
        form = "plugin in full"
    else:
        form = "text"
    return Meaning(form, row.same if row is not None else ())


@cache
def spelled(file: str, block: str, key: str) -> tuple[str, ...]:
    """The key, in any case, as the catalogue writes it; an old name is the key (or keys) that it stands for."""
    row = slurm.key(file, key, block)
    if row is not None and row.meaning.startswith("is "):
        return tuple(row.meaning.split()[1:])
    return (row.key if row is not None else key,)
