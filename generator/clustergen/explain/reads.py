"""What a render reads: fields of the manifest's models, and fields of the catalogue's rows.

Only what was read can have had a say, which is what makes trying it all quick. The same hook hands out another value of
a catalogue row where a trial wants one.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from clustergen.manifest.base import Section

Override = dict[tuple[int, str], Any]
"""Row, by its `id()`, and field → the value to hand out instead."""


class Reads:
    """What was read within `reading`. Rows are kept, so that their ids stay theirs."""

    def __init__(self) -> None:
        self.sections: set[tuple[int, str]] = set()
        self.rows: dict[int, Any] = {}
        self.fields: dict[int, set[str]] = {}


class _Facts(dict[str, str]):
    """A row's mapping of facts; reading one is noted as reading the field `facts.NAME`."""

    def __init__(self, facts: dict[str, str], row: Any, field: str, reads: Reads, override: Override) -> None:
        super().__init__(facts)
        self._note = (row, field, reads, override)

    def __getitem__(self, name: str) -> str:
        row, field, reads, override = self._note
        _noted(reads, row, f"{field}.{name}")
        found = override.get((id(row), f"{field}.{name}"), super().__getitem__(name))
        return str(found)


@cache
def row_types() -> tuple[type[Any], ...]:
    """The types of the catalogue's rows."""
    import clustergen.catalogue as package

    found: dict[type[Any], None] = {}
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
                found[value] = None
    return tuple(found)


def _noted(reads: Reads, row: Any, field: str) -> None:
    reads.rows.setdefault(id(row), row)
    reads.fields.setdefault(id(row), set()).add(field)


def _hook(name: str, original: Any, reads: Reads, override: Override) -> property:
    def read(row: Any) -> Any:
        value = override.get((id(row), name), _MISSING) if override else _MISSING
        if value is _MISSING:
            value = original.__get__(row)
        if isinstance(value, dict):
            return _Facts(value, row, name, reads, override)
        _noted(reads, row, name)
        return value

    return property(read)


_MISSING = object()


@contextmanager
def reading(override: Override | None = None) -> Iterator[Reads]:
    """Notes all reads meanwhile, of this thread and any other; rows hand out `override` where it has them."""
    reads = Reads()
    read_field = Section.__getattribute__

    def noted(self: Section, name: str) -> Any:
        reads.sections.add((id(self), name))
        return read_field(self, name)

    originals = [(kind, name, kind.__dict__[name]) for kind in row_types() for name in kind._fields]
    try:
        Section.__getattribute__ = noted  # type: ignore[method-assign, assignment]
        for kind, name, original in originals:
            setattr(kind, name, _hook(name, original, reads, override or {}))
        yield reads
    finally:
        del Section.__getattribute__
        for kind, name, original in originals:
            setattr(kind, name, original)
