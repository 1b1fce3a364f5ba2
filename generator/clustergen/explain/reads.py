"""The reads of a render: fields of the manifest's models, and fields of the catalogue's rows.

Only what was read can have had a say, which is what makes trying it all quick. The same hooks hand out another value of
a catalogue row where a trial wants one.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from functools import cache
from typing import Any

from clustergen.cluster.tracing import listening
from clustergen.manifest.base import Section

_MISSING = object()
Fact = tuple[int, str]
"""A row, by its `id()`, and a field of it."""
Override = dict[Fact, Any]
"""Fact → the value to hand out instead."""


class Reads:
    """The reads within `reading`. Rows are kept, so that their ids stay theirs."""

    def __init__(self) -> None:
        self.sections: set[tuple[int, str]] = set()
        self.sections_now = self.sections  # of the record that is being resolved, else of the render itself
        self._sections_of: dict[type, set[tuple[int, str]]] = {}
        self.rows: dict[int, Any] = {}
        self.fields: dict[int, set[str]] = {}
        self.owners: dict[int, Any] = {}  # `id()` of a row that is a fact of another one → that one

    def resolving(self, record: type) -> None:
        self.sections_now = self._sections_of[record] = set()

    def resolved(self, record: type) -> None:
        self.sections_now = self.sections

    def used(self, record: type) -> None:
        """Count the reads of a record for its user as well."""
        self.sections_now |= self._sections_of.get(record, set())

    def facts(self) -> set[Fact]:
        return {(ident, name) for ident, names in self.fields.items() for name in names}


class _Facts(dict[str, str]):
    """A row's mapping of facts; each counts as the field `facts.NAME`."""

    def __init__(self, facts: dict[str, str], replacement: Callable[[str, Any], Any]) -> None:
        super().__init__(facts)
        self._replacement = replacement

    def __getitem__(self, name: str) -> str:
        return str(self._replacement(name, super().__getitem__(name)))

    def items(self) -> Any:
        return {name: self[name] for name in self}.items()


@cache
def row_types() -> tuple[type[Any], ...]:
    """The types of the catalogue's rows."""
    import clustergen.catalogue as package

    types: dict[type[Any], None] = {}
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and field_names(value):
                types[value] = None
    return tuple(types)


def field_names(row: Any) -> tuple[str, ...]:
    """Fields of a row of the catalogue or its type; none of anything else."""
    names: tuple[str, ...] = getattr(row, "_fields", ()) or getattr(row, "__record_fields__", ())
    return names


@contextmanager
def reading() -> Iterator[Reads]:
    """Notes all reads meanwhile, of this thread and any other."""
    reads = Reads()
    read_field = Section.__getattribute__

    def noted(self: Section, name: str) -> Any:
        reads.sections_now.add((id(self), name))
        return read_field(self, name)

    def note(row: Any, field: str, value: Any) -> Any:
        reads.rows.setdefault(id(row), row)
        reads.fields.setdefault(id(row), set()).add(field)
        if field_names(value):
            reads.owners.setdefault(id(value), row)
        return value

    Section.__getattribute__ = noted  # type: ignore[method-assign, assignment]
    try:
        with _hooked(note), listening(reads):
            yield reads
    finally:
        del Section.__getattribute__


@contextmanager
def overriding(override: Override) -> Iterator[None]:
    """Rows meanwhile hand out `override` where it has them."""

    def other(row: Any, field: str, value: Any) -> Any:
        return override.get((id(row), field), value)

    with _hooked(other, {field.partition(".")[0] for _, field in override}):
        yield


@contextmanager
def _hooked(replacement: Callable[[Any, str, Any], Any], names: Set[str] | None = None) -> Iterator[None]:
    """Route reads of a row through `replacement`: all its fields, or those of these names."""
    originals = [
        (kind, name, kind.__dict__.get(name, _MISSING))
        for kind in row_types()
        for name in field_names(kind)
        if not names or name in names
    ]
    try:
        for kind, name, original in originals:
            setattr(kind, name, _Hook(name, original, replacement))
        yield
    finally:
        for kind, name, original in originals:
            if original is _MISSING:
                delattr(kind, name)
            else:
                setattr(kind, name, original)


class _Hook:
    """Stands for a field on the type of a row; the type itself still hands out the field's default."""

    def __init__(self, name: str, original: Any, replacement: Callable[[Any, str, Any], Any]) -> None:
        self.name, self.original, self.replacement = name, original, replacement

    def __get__(self, row: Any, kind: type[Any]) -> Any:
        if row is None:
            if self.original is _MISSING:
                raise AttributeError(self.name)
            return self.original
        value = self.original.__get__(row) if isinstance(row, tuple) else row.__dict__[self.name]
        if isinstance(value, dict):
            return _Facts(value, lambda fact, inner: self.replacement(row, f"{self.name}.{fact}", inner))
        return self.replacement(row, self.name, value)

    def __set__(self, row: Any, value: Any) -> None:
        """Makes it a data descriptor, which goes before the row's own value; rows are frozen."""
        raise AttributeError(f"{self.name} cannot be changed")
