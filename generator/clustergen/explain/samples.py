"""Other values for a field of the manifest, from its JSON Schema: what a trial puts in the place of a value.

Not all of them are valid where they are tried; the models and the rules decide about that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from clustergen.hostlist import compress, names_of

# Texts of every closed form that the manifest has: names, addresses, networks, paths, releases, times, quantities.
_TEXTS = (
    "dgx-a100-80", "h200", "cx6", "qm9700", "EDR", "rocky-9",
    "example", "other", "Example", "k=v", "example.org", "example.org:99", "https://example.org/x", "/srv/example",
    "10.99.0.0/24", "10.99.0.9", "10.99.0.[1-2]", "0x8001", "example/x", "02:00", "2", "25.05", "24.11", "23.11",
    "22.05", "2.15", "2.18", "2.27", "3.3", "4.2", "8.1", "1:23:00", "3GiB", "7GB", "90%", "450W", "2kW", "100Gb/s",
    "NDR", "debian-12", "all", "none", "a100-sxm-80", "dgx-h100",
    "user@example.org", "o2ib", "60001-63000", "yes:2", "580", "NVreg_Example", "0000:99:00.0", "02:00:00:00:00:99",
    "2099-12-31", "#example", "DCGM_FI_DEV_FB_USED",
)  # fmt: skip
_NUMBERS = (1, 2, 7, 100, 5000, 0)
_MOST = 12
_DEEPEST = 5


def others(schema: dict[str, Any], definitions: dict[str, Any], current: Any = None) -> list[Any]:
    """Up to a dozen values of the schema's form that are not `current`, the likeliest ones to be valid first."""
    values: list[Any] = []
    for value in _close_to(current):
        if value not in values:
            values.append(value)
    for value in _made(schema, definitions, 0):
        if value not in values:
            values.append(value)
        if len(values) >= _MOST:
            break
    return [value for value in values if value != current or type(value) is not type(current)]


def resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema itself where it only points at another one."""
    while "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    return schema


def _close_to(current: Any) -> Iterator[Any]:
    """Values that differ a little from one that is there."""
    if isinstance(current, bool) or current is None:
        return
    if isinstance(current, int | float):
        yield from (current + 1, current * 2, max(0, current - 1))
    elif isinstance(current, str):
        yield from _close_to_text(current)
    elif isinstance(current, list):
        yield current[:-1]


def _close_to_text(current: str) -> Iterator[str]:
    if "[" in current:
        names = names_of(current)
        if len(names) > 1:
            yield compress(names[:-1])
            yield "all"
    match = re.fullmatch(r"(.*?)(\d+)(\D*)", current, re.DOTALL)
    if match:
        head, digits, tail = match.groups()
        for number in (int(digits) + 1, max(0, int(digits) - 1)):
            yield f"{head}{number:0{len(digits)}d}{tail}"
    elif re.fullmatch(r"[A-Za-z][\w =-]*", current):
        yield current + "x"


def _made(schema: dict[str, Any], definitions: dict[str, Any], depth: int) -> Iterator[Any]:
    schema = resolved(schema, definitions)
    options = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if options:
        for option in options:
            yield from _made(option, definitions, depth)
        return
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if "enum" in schema or "const" in schema:
        yield from schema.get("enum", [schema.get("const")])
    elif "minimum" in schema or ("examples" not in schema and ("integer" in kinds or "number" in kinds)):
        low, high = schema.get("minimum", 0), schema.get("maximum", float("inf"))
        yield from (number for number in (low + 1, *_NUMBERS) if low <= number <= high)
    elif "examples" in schema:
        yield from schema["examples"]
        yield from _TEXTS
    elif "boolean" in kinds:
        yield from (True, False)
    elif "string" in kinds:
        yield from (text for text in _TEXTS if _fits(text, schema))
    elif depth < _DEEPEST and "array" in kinds:
        inner = schema.get("items")
        if isinstance(inner, dict):
            single = ([value] for value in _made(inner, definitions, depth + 1))
            yield from islice(single, 1)
            if choices := resolved(inner, definitions).get("enum"):
                yield list(choices)  # a default may be one of them that no other can replace
            yield from single
    elif depth < _DEEPEST and "object" in kinds:
        yield from _mappings(schema, definitions, depth)


def _fits(text: str, schema: dict[str, Any]) -> bool:
    pattern = schema.get("pattern")
    return len(text) <= schema.get("maxLength", len(text)) and (pattern is None or re.search(pattern, text) is not None)


def _of_catalogue(schema: dict[str, Any], name: str) -> str | None:
    """A sample that the catalogue has, for a field that names one of its rows: `qm9700` for a leaf."""
    from clustergen.catalogue.topics import TOPICS
    from clustergen.manifest.schema import CATALOGUE_FIELDS

    topic = CATALOGUE_FIELDS.get((schema.get("title", ""), name))
    names = TOPICS[topic].names() if topic else []
    return next((text for text in _TEXTS if text in names), None)


def _mappings(schema: dict[str, Any], definitions: dict[str, Any], depth: int) -> Iterator[Any]:
    """The smallest mapping of a model; a mapping of one entry where the keys are free."""
    if "properties" in schema:
        made = {}
        for name in schema.get("required", ()):
            value = _of_catalogue(schema, name) or next(_made(schema["properties"][name], definitions, depth + 1), None)
            if value is None:
                return
            made[name] = value
        yield made
        return
    patterns = schema.get("patternProperties") or {"": schema.get("additionalProperties")}
    pattern, inner = next(iter(patterns.items()))
    keys = schema.get("propertyNames", {}).get("enum", _TEXTS)
    key = next((text for text in keys if re.search(pattern, text)), None)
    if key is not None and isinstance(inner, dict):
        yield from ({key: value} for value in _made(inner, definitions, depth + 1))
