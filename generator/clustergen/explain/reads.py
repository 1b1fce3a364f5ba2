"""The reads of a render: fields of the manifest's models, of the cluster's records and of the catalogue's rows.

Only what was read can have had a say, which is what makes trying it all quick. The same hooks hand out another value of
a catalogue row where a trial wants one.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from functools import cache
from types import FunctionType
from typing import Any

from clustergen.cluster.model import Cluster
from clustergen.cluster.tracing import Part, listening
from clustergen.manifest.base import Section
from clustergen.records import fields

_MISSING = object()
Fact = tuple[int, str]
"""A row, by its `id()`, and a field of it."""
Override = dict[Fact, Any]
"""Fact → the value to hand out instead."""
Token = Any
"""A value that was read: a part of the cluster, or a field, as `id()` of its owner and name."""
ANYTHING = "anything"
"""A token of a part that may hold on to the whole cluster."""
_GROUND = frozenset(name for name in fields(Cluster) if name[0] != "_")


class Reads:
    """The reads of each part of a cluster that is made within `reading`. Owners are kept, so that ids stay theirs.

    `types` are those of the records whose fields count one by one.
    """

    def __init__(self, types: Set[type]) -> None:
        self.types = types
        self.of: dict[Part, set[Token]] = {}
        self.values: dict[Part, Any] = {}
        self.current: set[Token] = set()  # of the part that is being made
        self._makers: dict[int, Part] = {}  # `id()` of a record → the part that it was made in
        self.rows: dict[int, Any] = {}
        self.fields: dict[int, set[str]] = {}
        self.owners: dict[int, Any] = {}  # `id()` of a row that is a fact of another one → that one

    def value(self, part: Part, make: Callable[[], Any], sources: Iterable[Part] = ()) -> Any:
        outer, self.current = self.current, set(sources)
        try:
            value = self.values[part] = make()
            reads, self.current = self.current, set()
            self.of[part] = reads | self._of_others(value, part)
        finally:
            self.current = outer
        return value

    def used(self, part: Part) -> None:
        """Notes a use; the reads of a function that is asked once count for each that asks."""
        self.current |= self.of.get(part, {ANYTHING}) if isinstance(part, tuple) else {part}

    def behind(self, part: Part) -> set[Token]:
        """All that went into a part."""
        tokens: set[Token] = set()
        todo: list[Part] = [part]
        while todo:
            more = self.of.get(todo.pop(), set()) - tokens
            tokens |= more
            todo += [self._makers.get(token[0]) if isinstance(token, tuple) else token for token in more]
        return tokens

    def facts(self) -> set[Fact]:
        return {(ident, name) for ident, names in self.fields.items() for name in names}

    def _of_others(self, value: Any, part: Part) -> set[Token]:
        """Reads of a part that holds records of other parts: it changes with all that is in them."""
        kind = type(value)
        if kind in self.types and self._makers.setdefault(id(value), part) != part:
            maker = self._makers[id(value)]
            return self.of[maker] if isinstance(maker, tuple) else {(id(value), "__dict__")}
        if isinstance(value, Cluster | Section) or (isinstance(value, FunctionType) and value.__closure__):
            return {ANYTHING}
        return {token for inner in _within(value) for token in self._of_others(inner, part)}


def _within(value: Any) -> Iterable[Any]:
    """The values that a value of a cluster consists of; none of one of a row of the catalogue."""
    kind = type(value)
    if isinstance(value, Mapping):
        return value.values()
    if kind in (tuple, list, set, frozenset):
        return value  # type: ignore[no-any-return]
    names = getattr(kind, "__record_fields__", ()) or getattr(kind, "__dataclass_fields__", ())
    return [] if kind in row_types() else [getattr(value, name) for name in names]


def record_types(value: Any) -> set[type]:
    """The types of all records in a value of a cluster."""
    kinds = {type(value)} if hasattr(value, "__record_fields__") and type(value) not in row_types() else set()
    return kinds.union(*map(record_types, _within(value)))


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
def row_types() -> frozenset[type[Any]]:
    """The types of the catalogue's rows."""
    import clustergen.catalogue as package

    types: set[type[Any]] = set()
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and field_names(value):
                types.add(value)
    return frozenset(types)


def field_names(row: Any) -> tuple[str, ...]:
    """Fields of a row of the catalogue or its type; none of anything else."""
    names: tuple[str, ...] = getattr(row, "_fields", ()) or getattr(row, "__record_fields__", ())
    return names


@contextmanager
def reading(reads: Reads) -> Iterator[None]:
    """Notes all reads meanwhile, of this thread and any other."""
    read_field = object.__getattribute__

    def noted(owner: Any, name: str) -> Any:
        reads.current.add((id(owner), name))
        return read_field(owner, name)

    def noted_of_cluster(cluster: Cluster, name: str) -> Any:
        if name in _GROUND:
            reads.current.add(name)
        return read_field(cluster, name)

    def note(row: Any, field: str, value: Any) -> Any:
        reads.current.add((id(row), field))
        reads.rows.setdefault(id(row), row)
        reads.fields.setdefault(id(row), set()).add(field)
        if field_names(value):
            reads.owners.setdefault(id(value), row)
        return value

    hooks: dict[type, Any] = {Section: noted, Cluster: noted_of_cluster, **dict.fromkeys(reads.types, noted)}
    for kind, hook in hooks.items():
        kind.__getattribute__ = hook  # type: ignore[method-assign]
    try:
        with _hooked(note), listening(reads):
            yield
    finally:
        for kind in hooks:
            del kind.__getattribute__


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
