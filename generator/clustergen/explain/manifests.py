"""The manifests of trials: what an edit leaves as it is was read once, and is shared by all of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import ValidationError
from pydantic_core import SchemaValidator

from clustergen import compile as compiler
from clustergen.explain.edits import Edit, edited
from clustergen.manifest.base import Section
from clustergen.manifest.model import Manifest
from clustergen.records import replace


class Original:
    """A valid manifest, and what edits make of it."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.manifest = Manifest.model_validate(compiler.frozen(data))
        self._read: dict[int, Any] = {}  # sections, and mappings and lists of them, by the id() of their data
        for part, section in _sections(data, self.manifest):
            # An alias may stand for sections of several kinds; such a one is read anew.
            self._read[id(part)] = section if id(part) not in self._read else None
        self._read_all(data)

    def edited(self, edits: Iterable[Edit]) -> Manifest:
        """ValidationError where the edits leave no manifest."""
        return Manifest.model_validate(self._with_read(edited(self.data, edits)))

    def fits(self, edit: Edit) -> bool:
        """True if the section around the edit takes it: fields of different sections are not checked together."""
        value: Any = self.manifest
        section, data, depth = value, self.data, 0
        inner = data
        # Another name may stand in any section.
        above: tuple[Any, ...] = () if edit.does in ("rename", "replace") else edit.path[:-1]
        for number, part in enumerate(above, 1):
            if isinstance(value, Section):
                value = value.__dict__.get(part)
            else:  # a key of the model may be another text
                value = value[part] if isinstance(inner, list) else list(value.values())[list(inner).index(part)]
            inner = inner[part] if isinstance(inner, list) or part in inner else {}
            if isinstance(value, Section):
                section, data, depth = value, inner, number
        kind: Any = type(section)
        name = str(edit.path[depth])
        alone = edited(data, [replace(edit, path=edit.path[depth:])])
        try:
            if not above or kind.__pydantic_decorators__.model_validators:
                kind.model_validate(self._with_read(alone))
            elif any(info.is_required() and key not in alone for key, info in kind.model_fields.items()):
                return False
            elif name in alone:
                _validator(kind, name).validate_python(self._with_read(alone[name]))
        except ValidationError:
            return False
        return True

    def _read_all(self, data: Any) -> None:
        """Keeps what the models take for each mapping and list."""
        for part in data.values() if isinstance(data, dict) else data:
            if isinstance(part, dict | list):
                self._read_all(part)
        self._read[id(data)] = self._read.get(id(data)) or self._with_read(data)

    def _with_read(self, data: Any) -> Any:
        """Data as models take it, with what it has in common with the original."""
        if not isinstance(data, dict | list):
            return data
        if (model := self._read.get(id(data))) is not None:
            return model
        if isinstance(data, dict):
            return {key: self._with_read(value) for key, value in data.items()}
        return tuple(map(self._with_read, data))


@cache
def _validator(section: Hashable, name: str) -> SchemaValidator:
    """The validator of a field, from the manifest's schema: the section itself would work out all of its own anew."""
    definitions: Any = Manifest.__pydantic_core_schema__.get("definitions", [])
    model = _schemas()[section]
    schema = model["schema"]["fields"][name]["schema"]
    return SchemaValidator({"type": "definitions", "schema": schema, "definitions": definitions}, model["config"])


@cache
def _schemas() -> dict[Hashable, Any]:
    """The schema of each section within the manifest's."""
    schemas: dict[Hashable, Any] = {}
    todo: list[Any] = [Manifest.__pydantic_core_schema__]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            if part.get("type") == "model":
                schemas[part["cls"]] = part
            todo += part.values()
        elif isinstance(part, list | tuple):
            todo += part
    return schemas


def _sections(data: Any, value: Any) -> Iterator[tuple[Any, Section]]:
    """The data of each section, in the same place, and the section."""
    if isinstance(value, Section) and isinstance(data, dict):
        yield data, value
        for name, part in data.items():
            yield from _sections(part, value.__dict__.get(name))
    elif isinstance(value, Mapping) and isinstance(data, dict):
        for entry, part in zip(value.values(), data.values(), strict=True):
            yield from _sections(part, entry)
    elif isinstance(value, tuple) and isinstance(data, list):
        for entry, part in zip(value, data, strict=True):
            yield from _sections(part, entry)
