"""The reference of the resolved cluster: a table for each record, from the JSON Schema of the printed model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clustergen.cluster.document import schema
from site_pages.manifest import inner_of, model_of, slug

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cluster.md"
FIRST = "## What every cluster has"
_TYPES = {"integer": "whole number", "boolean": "`true` or `false`", "string": "text", "null": "`null`"}
_OF_THE_PRINT = ("version", "is_partial", "left_out")
"""Keys of what `resolve` prints beside the model."""


@dataclass(frozen=True, slots=True)
class Part:
    """A record at the first path that leads to it. `fields`: without those of the part whose kind it is."""

    record: str
    title: str
    path: str
    fields: dict[str, Any]


class Reference:
    """The schema as parts and tables."""

    def __init__(self) -> None:
        model = schema()
        self.records: dict[str, dict[str, Any]] = model["$defs"]
        fields = {name: field for name, field in model["properties"].items() if name not in _OF_THE_PRINT}
        self.ground = {name: field for name, field in fields.items() if name in model["required"]}
        self.parts: dict[str, Part] = {}
        self._walk("", self.ground)
        self.parts_of_ground = len(self.parts)
        self._walk("", fields)

    def _walk(self, path: str, fields: dict[str, Any]) -> None:
        """Adds the records that fields hold, and those in them, each before its own."""
        for key, field in fields.items():
            base: dict[str, Any] = {}
            for place, name in self.held(f"{path}.{key}".lstrip("."), field):
                if name not in self.parts:
                    is_first = place not in {part.path for part in self.parts.values()}
                    rest = {key: value for key, value in self.properties(name).items() if base.get(key) != value}
                    self.parts[name] = Part(name, f"`{place}`" if is_first else f"`{place}`, {name}", place, rest)
                    self._walk(place, rest)
                base = base or self.properties(name)

    def properties(self, record: str) -> dict[str, Any]:
        fields: dict[str, Any] = self.records[record]["properties"]
        return fields

    def text(self) -> Iterator[str]:
        parts = list(self.parts.values())
        yield f"{FIRST}\n\n{self.table(self.ground)}"
        yield from map(self.part, parts[: self.parts_of_ground])
        yield "## Sections\n\nA section is absent if the cluster does not have what it describes.\n"
        yield from map(self.part, parts[self.parts_of_ground :])

    def part(self, part: Part) -> str:
        mark = "####" if "." in part.path else "###"
        table = f"\n{self.table(part.fields)}" if part.fields else ""
        return f"{mark} {part.title}\n\n{self.records[part.record]['description']}\n{table}"

    def held(self, path: str, field: dict[str, Any]) -> Iterator[tuple[str, str]]:
        """Path and name of the records that a field holds."""
        if "$ref" in field:
            yield path, model_of(field)
        for option in (*field.get("anyOf", ()), *field.get("prefixItems", ())):
            yield from self.held(path, option)
        if "items" in field:
            yield from self.held(f"{path}[]", field["items"])
        if (inner := inner_of(field)) is not None:
            yield from self.held(f"{path}.NAME", inner)

    def table(self, fields: dict[str, Any]) -> str:
        rows = ["| field | description | type |", "|---|---|---|"]
        for name, field in fields.items():
            shape = "keys and indices, or `null`" if name.endswith("_at") or name == "at" else self.shape(field)
            cells = (f"`{name}`", field.get("description", "").removesuffix("."), shape)
            rows.append("| " + " | ".join(cell.replace("|", "\\|").replace("<", "\\<") for cell in cells) + " |")
        return "\n".join(rows) + "\n"

    def shape(self, field: dict[str, Any]) -> str:
        """A type in a few words."""
        if "$ref" in field:
            title = self.parts[model_of(field)].title
            return f"[{title.replace('`', '')}](#{slug(title).replace(' ', '-')})"
        if "const" in field or "enum" in field:
            return " or ".join(f"`{value}`" for value in field.get("enum", [field.get("const")]))
        if "anyOf" in field:
            kinds = [] if "$ref" not in field["anyOf"][0] else [one for one in field["anyOf"][1:] if "$ref" in one]
            return " or ".join(dict.fromkeys(self.shape(one) for one in field["anyOf"] if one not in kinds))
        if "prefixItems" in field:
            return f"({', '.join(map(self.shape, field['prefixItems']))})"
        if field.get("type") == "array":
            return f"list of {self.shape(field['items'])}"
        if (inner := inner_of(field)) is not None:
            return f"NAME: {self.shape(inner)}"
        if "examples" in field:
            return f"quantity, as `{field['examples'][0]}`"
        return "host list" if "format" in field else _TYPES.get(kind := field.get("type", "any value"), kind)


def page() -> str:
    """The page as Markdown: its introduction as it is, and today's tables."""
    introduction = PAGE.read_text(encoding="utf-8").partition(FIRST)[0]
    return introduction + "\n".join(Reference().text())
