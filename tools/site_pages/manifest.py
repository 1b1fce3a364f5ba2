"""The reference of the manifest: every field by topic, from the models, with examples that the tests render."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import yaml

from clustergen.manifest.schema import model_schema

CHECKOUT = Path(__file__).resolve().parents[2]
EXAMPLES = ("inventories/*/manifest.yaml", "tests/fixtures/verify/*.yaml")
# Blocks of the guides that tests validate: whole manifests, and sections of one.
_BLOCK = re.compile(r"^```yaml (?:manifest|fragment)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LONGEST_EXAMPLE = 14  # lines

# Topic → the paths of its first sections; a section belongs to the longest path that it starts with.
TOPICS = {
    "Cluster": ("",),
    "Networks and fabric": ("networks",),
    "Hardware and nodes": ("node_types", "nodes", "racks"),
    "Slurm": ("slurm",),
    "Partitions and scheduling": tuple(
        f"slurm.{name}" for name in ("partitions", "resources", "scheduler", "priority", "preemption", "topology")
    ),
    "Accounting, QOS and accounts": tuple(f"slurm.{name}" for name in ("accounting", "qos", "accounts", "users")),
    "GPUs": ("gpu",),
    "NCCL, UCX and MPI": ("nccl", "ucx"),
    "Storage": ("storage",),
    "Monitoring and health": ("monitoring", "health"),
    "Operating system, Ansible and site files": ("host", "ansible", "site"),
    "Catalogue rows of your own": ("catalogue",),
}
INTRO = """# Manifest reference

This page lists every field of the manifest by topic. Each heading is the path of a section, in which `NAME` stands
for a name of your own. `clustergen explain slurm.partitions.max_time` prints a field in the terminal, and `clustergen
schema` prints the JSON Schema for editors. `tools/update-manifest-reference` writes this page from the models.

The column *default* shows a value as code. Words describe a default that depends on other values, and *unset* means
that there is none. A section without a default may be left out; its fields then have the defaults of their own table.

"""
_UNITS = {"seconds": "s", "minutes": "min", "milliseconds": "ms"}
_BARE = re.compile(r"A bare number is (\w+)")
_DEFAULT = re.compile(r"\b[Dd]efault:? (?P<text>[^;.]+(?:\.\d[^;.]*)?)")


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping of the manifest with fields of its own."""

    path: str
    """`slurm.partitions.NAME`; empty for the manifest itself."""
    model: dict[str, Any]
    kind: str = ""
    """The value of `type`, where the path has several kinds of sections."""

    @property
    def title(self) -> str:
        words = f"`{self.path}`" if self.path else "The manifest's own keys"
        return f"{words}, type `{self.kind}`" if self.kind else words

    def describes(self, value: dict[str, Any]) -> bool:
        """True if a mapping at this path is such a section: others may be below a section of another type."""
        is_of_kind = value.get("type") == self.kind or not self.kind
        return is_of_kind and set(self.model.get("required", ())) <= value.keys() <= self.model["properties"].keys()

    def anchor(self, field: str) -> str:
        """The anchor of a field's row."""
        kind = f".{self.kind}" if self.kind else ""
        return f"{self.path}{kind}.{field}".lstrip(".")


class Schema:
    """The manifest's JSON Schema as sections and fields."""

    def __init__(self) -> None:
        self.schema = model_schema()
        self.models: dict[str, dict[str, Any]] = self.schema["$defs"]
        self.first: dict[str, str] = {}
        """Model → the path at which the page describes it."""
        self.sections = list(self._walk(Section("", self.schema)))

    def _walk(self, section: Section) -> Iterator[Section]:
        yield section
        for name, field in section.model.get("properties", {}).items():
            path = f"{section.path}.{name}".lstrip(".")
            for deeper, model, kind in self._models(path, field):
                if model not in self.first and "properties" in self.models[model]:
                    self.first[model] = deeper
                    yield from self._walk(Section(deeper, self.models[model], kind))

    def _models(self, path: str, schema: dict[str, Any], kind: str = "") -> Iterator[tuple[str, str, str]]:
        """Path, model and kind of the sections that a field holds."""
        if "$ref" in schema:
            yield path, model_of(schema), kind
        elif "discriminator" in schema:
            for value, target in schema["discriminator"]["mapping"].items():
                yield path, target.rpartition("/")[2], value
        for option in schema.get("anyOf", ()):
            yield from self._models(path, option)
        if isinstance(schema.get("items"), dict):
            yield from self._models(path, schema["items"])
        inner = inner_of(schema)
        if inner is not None:
            yield from self._models(f"{path}.NAME", inner)

    def shape(self, schema: dict[str, Any]) -> str:
        """A type in a few words."""
        if "$ref" in schema:
            path = self.first.get(model_of(schema))
            return f"[{path}](#{slug(path)})" if path else self.shape(self.models[model_of(schema)])
        if "enum" in schema or "const" in schema:
            return ", ".join(f"`{text(value)}`" for value in schema.get("enum", [schema.get("const")]))
        if "discriminator" in schema:
            return "a section by its `type`"
        options = schema.get("anyOf") or schema.get("oneOf")
        if options:
            return " or ".join(dict.fromkeys(self.shape(option) for option in options if option.get("type") != "null"))
        kind = schema.get("type")
        if kind == ["integer", "string"]:
            return f"{schema['minimum']} to {schema['maximum']}, or with a unit, as `{schema['examples'][0]}`"
        if kind == "array":
            inner = schema.get("items")
            return f"list of {self.shape(inner)}" if isinstance(inner, dict) else "list"
        if kind == "object":
            inner = inner_of(schema)
            return f"NAME: {self.shape(inner)}" if inner is not None else "mapping"
        if kind == "integer" and "minimum" in schema and "maximum" in schema:
            return f"{schema['minimum']} to {schema['maximum']}"
        if schema.get("examples"):
            return f"quantity, as `{schema['examples'][0]}`"
        return {"integer": "number", "boolean": "`true`, `false`", "string": "text"}.get(
            str(kind), str(kind or "value")
        )

    def table(self, section: Section) -> str:
        """The fields of a section."""
        rows = ["| field | description | values | default |", "|---|---|---|---|"]
        required = section.model.get("required", ())
        headings = {slug(place.path) for place in self.sections}
        for name, schema in section.model.get("properties", {}).items():
            anchor = section.anchor(name)
            model = self.models.get(model_of(schema), {}) if "$ref" in schema else {}
            description = str(schema.get("description") or model.get("description", ""))
            cells = (
                f"`{name}`" if anchor in headings else f'<a id="{anchor}"></a>`{name}`',
                description,
                self.shape(schema),
                "**required**" if name in required else default(schema, description),
            )
            rows.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
        return "\n".join(rows) + "\n"


def model_of(schema: dict[str, Any]) -> str:
    """The name of the model that a schema refers to."""
    return str(schema["$ref"]).rpartition("/")[2]


def inner_of(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The type of the values of a mapping by names."""
    if schema.get("type") != "object":
        return None
    inner = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))
    return inner if isinstance(inner, dict) else None


def text(value: object) -> str:
    """A value as a manifest writes it, on one line."""
    flow = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False)
    return flow.removesuffix("\n").removesuffix("\n...")


def default(schema: dict[str, Any], description: str) -> str:
    """The default of a field that the manifest leaves out."""
    value = schema.get("default")
    unit = _BARE.search(description)
    if isinstance(value, int) and not isinstance(value, bool) and unit:
        return f"`{value}{_UNITS[unit[1]]}`"
    if value not in (None, [], {}, ""):
        return f"`{text(value)}`"
    stated = _DEFAULT.search(description)
    if stated:
        return stated["text"].strip()
    if "$ref" in schema or any("$ref" in option for option in schema.get("anyOf", ())):
        return ""
    return {"[]": "`[]`", "{}": "`{}`"}.get(str(value), "unset")


def slug(path: str) -> str:
    """The anchor of a section's heading, as forges make it."""
    return re.sub(r"[^\w\- ]", "", path.lower())


class _Loader(yaml.SafeLoader):
    """Reads numbers and booleans as YAML 1.2 does, and `4:00:00` and `off` as texts."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


class _Dumper(yaml.SafeDumper):
    """Writes what `_Loader` reads."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


for _kind, _form in (("bool", "true|false"), ("int", "-?[0-9]+"), ("float", r"-?[0-9]+\.[0-9]+")):
    for _yaml in (_Loader, _Dumper):
        _yaml.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(f"^(?:{_form})$"), None)


class Examples:
    """Sections of real manifests, by path."""

    def __init__(self, schema: Schema) -> None:
        self.paths = {section.path for section in schema.sections}
        files = [path for pattern in EXAMPLES for path in sorted(CHECKOUT.glob(pattern))]
        texts = [path.read_text(encoding="utf-8") for path in files]
        for guide in sorted((CHECKOUT / "docs").glob("*.md")):
            texts += _BLOCK.findall(guide.read_text(encoding="utf-8"))
        self.manifests = [yaml.load(text, _Loader) for text in texts]  # noqa: S506 - a SafeLoader with fewer types

    def best(self, section: Section) -> str | None:
        """The example with the most fields of the section that still fits, as YAML from the manifest's top."""
        candidates = []
        for manifest in self.manifests:
            for keys, value in self._at(manifest, section.path.split("."), ()):
                if isinstance(value, dict) and section.describes(value):
                    shown = self._without_sections(section, value) or value
                    printed = self._nested(keys, shown)
                    if shown and printed.count("\n") <= LONGEST_EXAMPLE:
                        candidates.append((len(shown), printed))
        return max(candidates, key=lambda pair: pair[0])[1] if candidates else None

    def _at(self, node: object, path: list[str], keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
        if isinstance(node, list):
            for item in node:
                for inner, value in self._at(item, path, ()):
                    yield (*keys, "[]", *inner), value
        elif not path:
            yield keys, node
        elif isinstance(node, dict):
            names = list(node) if path[0] == "NAME" else [path[0]]
            for name in names:
                if name in node:
                    yield from self._at(node[name], path[1:], (*keys, name))

    def _without_sections(self, section: Section, value: dict[str, Any]) -> dict[str, Any]:
        """The section without those below it that have examples of their own."""
        return {
            name: inner
            for name, inner in value.items()
            if f"{section.path}.{name}" not in self.paths and f"{section.path}.{name}.NAME" not in self.paths
        }

    def _nested(self, keys: tuple[str, ...], value: object) -> str:
        for key in reversed(keys):
            value = [value] if key == "[]" else {key: value}
        return yaml.dump(value, Dumper=_Dumper, default_flow_style=None, sort_keys=False, width=100, allow_unicode=True)


def topic_of(section: Section) -> str:
    """The topic with the longest path that the section starts with."""

    def length(paths: tuple[str, ...]) -> int:
        return max((len(path) for path in paths if not path or f"{section.path}.".startswith(f"{path}.")), default=-1)

    return max(TOPICS, key=lambda topic: length(TOPICS[topic]))


@cache
def anchors() -> frozenset[str]:
    """Targets of links to the page: the path of a field, or a top-level section's heading."""
    schema = Schema()
    fields = (section.anchor(name) for section in schema.sections for name in section.model.get("properties", ()))
    return frozenset(fields)


def page() -> str:
    """The page as Markdown."""
    schema = Schema()
    examples = Examples(schema)
    parts = [INTRO]
    for topic in TOPICS:
        parts.append(f"## {topic}\n\n")
        for section in schema.sections:
            if topic_of(section) == topic:
                parts.append(f"### {section.title}\n\n")
                if section.path:
                    parts.append(f"{section.model.get('description', '')}\n\n")
                parts.append(f"{schema.table(section)}\n")
                example = examples.best(section)
                if example:
                    parts.append(f"```yaml\n{example}```\n\n")
    return "".join(parts).rstrip("\n") + "\n"
