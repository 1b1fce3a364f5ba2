"""Look-ups in the table of fields: which fields hold a key, and what a key without one follows from."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from clustergen.catalogue import slurm
from clustergen.catalogue.slurm_meanings import spelled
from clustergen.slurmrules.field_table import DERIVED, FIELDS, MORE, Field


def rows() -> Iterator[tuple[str, str, str, Field]]:
    """File, key that opens the line, key and field of every pair."""
    for (file, block), keys in FIELDS.items():
        yield from ((file, block, key, row) for key, row in keys.items())
    for (file, block), more in MORE.items():
        yield from ((file, block, key, row) for key, several in more.items() for row in several)


@cache
def paths_of(file: str, key: str) -> tuple[str, ...]:
    """The fields that hold a key of the file's own lines, by its name of today: `slurm.priority.max_age`."""
    row = FIELDS.get((file, ""), {}).get(key)
    more = MORE.get((file, ""), {}).get(key, ())
    return tuple(row.path for row in (row, *more) if row is not None)


@cache
def _lower() -> tuple[dict[tuple[str, str, str], Field], dict[tuple[str, str, str], str]]:
    """Both tables by file, block and key in lower case."""
    fields = {(*place, key.lower()): row for place, keys in FIELDS.items() for key, row in keys.items()}
    derived = {(*place, key.lower()): text for place, keys in DERIVED.items() for key, text in keys.items()}
    return fields, derived


def current_names(file: str, block: str, name: str) -> tuple[str, ...]:
    """A key, in any case, by the names that it has today: old names stand for one key, or for two."""
    row = slurm.key(file, name, block)
    renamed = row is not None and row.note == "old name" and spelled(file, block, name) == (row.key,)
    return spelled(file, block, row.instead if row is not None and renamed else name)


def fields_of(file: str, block: str, name: str) -> tuple[Field, ...]:
    """The fields that hold a key, in any case and also by an old name; several for an old name of two keys."""
    table = _lower()[0]
    fields: list[Field] = []
    for one in current_names(file, block, name):
        row = table.get((file, block, one.lower()))
        fields += [row] if row is not None else []
        fields += MORE.get((file, block), {}).get(one, ())
    return tuple(fields)


def field_of(file: str, block: str, name: str) -> str | None:
    """Where the manifest sets a key, in words: `priority_tier and priority_factor`; None where no field does."""
    more = [row for rows in MORE.get((file, block), {}).values() for row in rows if not row.other_key]
    return " and ".join(row.path for row in fields_of(file, block, name) if row not in more) or None


def derived_from(file: str, block: str, name: str) -> str | None:
    """The origin of a key that has no field."""
    names = (name, *current_names(file, block, name))
    return next((text for one in names if (text := _lower()[1].get((file, block, one.lower())))), None)
