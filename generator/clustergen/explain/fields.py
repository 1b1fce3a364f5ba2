"""The fields of one manifest: those that it states and those that it leaves to their defaults, each with its schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Literal

from clustergen.diagnostics import ManifestPath
from clustergen.explain.samples import others, resolved
from clustergen.manifest.base import Section
from clustergen.records import record

Kind = Literal["value", "key", "entry", "default"]
"""A stated value, the name that a mapping's key gives, a whole entry of a list or mapping, an unset field."""


@record
class Field:
    """One thing that a trial may change. `owner` is the field of a model through which a render reads it."""

    path: ManifestPath
    kind: Kind
    owner: tuple[int, str]  # id() of the model, name of its field
    schema: Mapping[str, Any]
    help: str
    default: Any = None

    @property
    def name(self) -> str:
        return dotted(self.path)


def dotted(path: ManifestPath) -> str:
    """A path as people write it: `nodes[3].name`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


class Fields:
    """Walks a manifest's model, its data and its schema at once."""

    def __init__(self, manifest: Section, data: Any, schema: dict[str, Any]) -> None:
        self.schema = schema
        self.definitions: dict[str, Any] = schema["$defs"]
        self.data = data
        self.found = tuple(self._section(manifest, data, schema, ()))

    def read(self, seen: set[tuple[int, str]]) -> list[Field]:
        """Those that were read."""
        return [field for field in self.found if field.owner in seen]

    def documents(self, field: Field) -> Iterator[tuple[str, Any]]:
        """What is put in its place, in words, and the whole document with it."""
        if field.kind == "key":
            yield "another name", _renamed(self.data, field.path, f"{field.path[-1]}-x")
            yield "another name", _renamed(self.data, field.path, f"{field.path[-1]}x")
            return
        current = value_at(self.data, field.path)
        if field.kind != "default":
            yield "nothing", _without(self.data, field.path)
        if field.kind in ("value", "default"):
            shown = current if current is not None else field.default
            for value in others(dict(field.schema), self.definitions, shown):
                yield as_yaml(value), _with(self.data, field.path, value)

    def _section(self, model: Section, data: Any, schema: dict[str, Any], path: ManifestPath) -> Iterator[Field]:
        schema = self._of_model(model, schema)
        for name, inner in schema.get("properties", {}).items():
            value = model.__dict__.get(name)
            stated = isinstance(data, dict) and name in data
            yield from self._value(
                value, data.get(name) if stated else None, inner, (*path, name), (id(model), name), stated,
                inner.get("description", ""),
            )  # fmt: skip

    def _of_model(self, model: Section, schema: dict[str, Any]) -> dict[str, Any]:
        schema = resolved(schema, self.definitions)
        for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
            found = self._of_model(model, option)
            if found.get("title") == type(model).__name__:
                return found
        return schema

    def _value(
        self, value: Any, data: Any, schema: dict[str, Any], path: ManifestPath, owner: tuple[int, str], stated: bool,
        help: str,
    ) -> Iterator[Field]:  # fmt: skip
        if isinstance(value, Section):
            yield from self._section(value, data, schema, path)
        elif not stated:
            yield Field(path, "default", owner, schema, help, schema.get("default"))
        elif isinstance(data, dict | list) and data:
            entries = list(data.items()) if isinstance(data, dict) else list(enumerate(data))
            inner = self._inner(schema, isinstance(data, dict))
            for key, part in entries:
                below = value[key] if isinstance(value, Mapping | tuple) else None
                if isinstance(data, dict):
                    yield Field((*path, key), "key", owner, inner, help)
                if isinstance(part, dict | list):
                    yield Field((*path, key), "entry", owner, inner, help)
                yield from self._value(below, part, inner, (*path, key), owner, True, help)
        else:
            yield Field(path, "value", owner, schema, help, schema.get("default"))

    def _inner(self, schema: dict[str, Any], mapping: bool) -> dict[str, Any]:
        """The schema of what a list or mapping holds."""
        schema = resolved(schema, self.definitions)
        for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
            if found := self._inner(option, mapping):
                return found
        below: Any = schema.get("items")
        if mapping:
            below = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))
        return below if isinstance(below, dict) else {}


def value_at(data: Any, path: ManifestPath) -> Any:
    """None where the document has no such value."""
    for part in path:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def as_yaml(value: Any) -> str:
    """A value on one line, as a manifest may have it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {as_yaml(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_yaml, value)) + "]"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return str(value)


def _parent(data: Any, path: ManifestPath) -> tuple[Any, Any]:
    """A copy of the document along the path, and the copied container of its last part."""
    top = here = _copy(data)
    for part in path[:-1]:
        below = here[part] if not isinstance(here, dict) or part in here else {}
        here[part] = _copy(below)
        here = here[part]
    return top, here


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, dict | list) else deepcopy(value)


def _with(data: Any, path: ManifestPath, value: Any) -> Any:
    top, here = _parent(data, path)
    here[path[-1]] = value
    return top


def _without(data: Any, path: ManifestPath) -> Any:
    top, here = _parent(data, path)
    del here[path[-1]]
    return top


def _renamed(data: Any, path: ManifestPath, name: str) -> Any:
    top, here = _parent(data, path)
    entries = [(name if key == path[-1] else key, value) for key, value in here.items()]
    here.clear()
    here.update(entries)
    return top
