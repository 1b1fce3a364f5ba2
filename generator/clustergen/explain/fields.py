"""The fields of one manifest: those that it states and those that it leaves to their defaults, each with its schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, Literal

from clustergen.diagnostics import ManifestPath
from clustergen.diagnostics.model_path import value_at
from clustergen.explain.edits import Edit
from clustergen.explain.manifests import Original
from clustergen.explain.samples import others, resolved
from clustergen.manifest.base import Section
from clustergen.manifest.schema import model_schema
from clustergen.records import record
from clustergen.render.yaml_flow import flow

_MOST = 8  # edits of one field

Kind = Literal["value", "key", "entry", "default"]
"""A stated value, the name that a mapping's key gives, a whole section, mapping or list, an unset field."""


@record
class Origin:
    """The field of a model that something stands in, be it within lists and mappings."""

    owner: tuple[int, str]  # id() of the model and name of the field, by which a render reads it
    section: type[Section]  # the model's type
    depth: int  # how much of a path leads to that section
    help: str


@record
class Field:
    """One thing that a trial may change."""

    path: ManifestPath
    kind: Kind
    origin: Origin
    schema: Mapping[str, Any]
    default: Any

    @property
    def name(self) -> str:
        return dotted(self.path)

    @property
    def ident(self) -> tuple[str, Kind]:
        return self.name, self.kind


def dotted(path: ManifestPath) -> str:
    """A path as people write it: `nodes[3].name`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


@cache
def _schema() -> dict[str, Any]:
    """The manifest's JSON Schema."""
    return model_schema(short_names=False)


class Fields:
    """Walks a manifest's model, its data and its schema at once."""

    def __init__(self, original: Original) -> None:
        schema = _schema()
        self.definitions: dict[str, Any] = schema["$defs"]
        self.original = original
        self.data = data = original.data
        self._edits: dict[tuple[str, Kind], list[Edit]] = {}
        self.all = tuple(self._section(original.manifest, data, schema, ()))
        # What other entries have in a field, and what stands under its name: names that the manifest knows.
        self._stated: dict[tuple[type[Section], str], list[Any]] = {}
        self._names: dict[str, list[Any]] = {}
        for field in self.all:
            if field.kind == "value" and not isinstance(value := value_at(data, field.path), dict | list):
                self._stated.setdefault((field.origin.section, field.origin.owner[1]), []).append(value)
            elif field.kind == "key":
                self._names.setdefault(field.origin.owner[1], []).append(field.path[-1])

    def read(self, seen: set[tuple[int, str]]) -> list[Field]:
        """The fields that were read."""
        return [field for field in self.all if field.origin.owner in seen]

    def edits(self, field: Field) -> list[Edit]:
        """Edits of a field, the nearest to the present value first: of the right shape, no more."""
        if field.ident not in self._edits:
            edits = () if "const" in field.schema else self._thinkable(field)
            self._edits[field.ident] = list(islice(filter(self.original.fits, edits), _MOST))
        return self._edits[field.ident]

    def _thinkable(self, field: Field) -> Iterator[Edit]:
        if field.kind == "key":
            for name in (f"{field.path[-1]}-x", f"{field.path[-1]}x"):
                yield Edit(field.path, "replace", "another name", name)
                yield Edit(field.path, "rename", "another name", name)
            return
        drop = Edit(field.path, "drop", "nothing")
        if field.kind == "entry":
            yield drop
            if "properties" not in resolved(dict(field.schema), self.definitions):
                for more in others(dict(field.schema), self.definitions):
                    # What an invented section would change is no cause of what is there.
                    if isinstance(more, list) or (isinstance(more, dict) and not _has_sections(more)):
                        yield Edit(field.path, "add", f"{flow(more)} as well", more)
            return
        current = value_at(self.data, field.path) if field.kind == "value" else field.default
        values = others(dict(field.schema), self.definitions, current)
        likely = self._candidates(field, current)
        first = values[:1] if field.kind == "value" else []
        values = [*first, *likely, *(value for value in values if value not in [*first, *likely])]
        edits = [Edit(field.path, "set", flow(value), value) for value in values]
        if field.kind == "value":
            edits.insert(1, drop)
        yield from edits

    def _candidates(self, field: Field, current: Any) -> list[Any]:
        """Two values that the manifest has for such a thing elsewhere: `allow_qos` is of names under `qos`."""
        name = field.origin.owner[1]
        candidates = list(self._stated.get((field.origin.section, name), ()))
        for holder, names in self._names.items():
            if name.endswith((holder, f"_{holder}")) or holder.endswith((f"{name}s", f"_{name}s")):
                candidates += names
        listed = "array" in str(resolved(dict(field.schema), self.definitions).get("type"))
        return [[value] if listed else value for value in dict.fromkeys(candidates) if value != current][:2]

    def _section(self, model: Section, data: Any, schema: dict[str, Any], path: ManifestPath) -> Iterator[Field]:
        for name, inner in self._of_model(model, schema).get("properties", {}).items():
            stated = isinstance(data, dict) and name in data
            origin = Origin((id(model), name), type(model), len(path), inner.get("description", ""))
            value = model.__dict__.get(name)
            yield from self._value(value, data[name] if stated else None, inner, (*path, name), origin, stated)

    def _of_model(self, model: Section, schema: dict[str, Any]) -> dict[str, Any]:
        schema = resolved(schema, self.definitions)
        for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
            inner = self._of_model(model, option)
            if inner.get("title") == type(model).__name__:
                return inner
        return schema

    def _value(
        self, value: Any, data: Any, schema: dict[str, Any], path: ManifestPath, origin: Origin, stated: bool
    ) -> Iterator[Field]:
        if stated and isinstance(data, dict | list):
            yield Field(path, "entry", origin, schema, None)
        if isinstance(value, Section):
            yield from self._section(value, data, schema, path)
        elif not stated:
            # A switch of a section that is left out may be off, though it is on where the section is written.
            yield Field(path, "default", origin, schema, value if isinstance(value, bool) else schema.get("default"))
        elif isinstance(data, dict | list) and isinstance(value, Mapping | tuple) and data:
            inner = self._inner(schema, isinstance(data, dict))
            # A key is read as what its model makes of it, so an entry is known by its place.
            below = list(value.values() if isinstance(value, Mapping) else value)
            for entry, (key, part) in zip(below, _entries(data), strict=True):
                if isinstance(data, dict):
                    yield Field((*path, key), "key", origin, inner, None)
                yield from self._value(entry, part, inner, (*path, key), origin, True)
        else:
            yield Field(path, "value", origin, schema, schema.get("default"))

    def _inner(self, schema: dict[str, Any], mapping: bool) -> dict[str, Any]:
        """The schema of what a list or mapping holds."""
        schema = resolved(schema, self.definitions)
        for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
            if held := self._inner(option, mapping):
                return held
        below: Any = schema.get("items")
        if mapping:
            below = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))
        return below if isinstance(below, dict) else {}


def _entries(data: dict[Any, Any] | list[Any]) -> list[tuple[Any, Any]]:
    return list(data.items() if isinstance(data, dict) else enumerate(data))


def _has_sections(mapping: dict[str, Any]) -> bool:
    return any(isinstance(value, dict) for value in mapping.values())
