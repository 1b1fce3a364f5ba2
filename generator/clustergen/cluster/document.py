"""The resolved cluster as a document of plain values, with its JSON Schema: what `clustergen resolve` prints.

`VERSION` rises when a name goes away or changes its meaning; names that are added leave it as it is. Host names and
addresses are folded, and what the document has in one place is a name in others: the node type of an entry of `nodes`.
A quantity is a number, and its name ends in the unit: `power_w` of the field `power`.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from clustergen.catalogue.versions import Release
from clustergen.cluster.annotations import FITTED, HOSTS, INTERNAL, MIB, Unit
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.resolve import record_types, section_name
from clustergen.hostlist import compress
from clustergen.manifest.base import Section
from clustergen.units import Bytes
from clustergen.units.base import PydanticField

VERSION = 1
_COMMENT = re.compile(r"^    (\w+): .*?  # (.+)$", re.MULTILINE)
_UNIT_IN_NAME = re.compile(r"_(?:ms|us|s|minutes|days|w|va|kg|m|c|percent|gbit|mhz|bytes|kib|mib)$")
_OF_INPUT = re.compile(r"[;.] (?:A bare number|[Dd]efault)")
"""Where a description of the manifest's begins to say what one may write."""
_NAMES = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null"}


def section_names(cluster: Cluster) -> tuple[str, ...]:
    """The sections of a cluster's document, in order."""
    return tuple(sections(cluster))


def sections(cluster: Cluster) -> dict[str, type]:
    """The types of the sections' records by name, in order; a field of the cluster itself has the cluster's."""
    records = {section_name(record): record for record in printed(cluster.record_types)}
    return {**dict.fromkeys(fields(Cluster), Cluster), **records}


def document(cluster: Cluster, section: str | None = None) -> dict[str, object]:
    """The whole model, or one section of it, as mappings, lists, texts, numbers, booleans and None.

    LookupError for a section that the cluster does not have.
    """
    records = sections(cluster)
    if section not in (None, *records):
        raise LookupError(section)
    plain = {name: plain_section(cluster, name, kind) for name, kind in records.items() if section in (None, name)}
    return {"cluster_version": VERSION, **plain}


def plain_section(cluster: Cluster, name: str, record: type) -> object:
    """One of the `sections` as plain values."""
    if record is Cluster:
        return _plain(getattr(cluster, name), fields(Cluster)[name].kind, is_top=True)
    return _plain(cluster.of(record), record)


def schema_text() -> str:
    """The JSON Schema as a file."""
    return json.dumps(schema(), indent=1) + "\n"


def schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of the document, of any cluster."""
    definitions: dict[str, Any] = {}
    ground = _properties_of(Cluster, definitions, is_top=True)
    others = {section_name(kind): _schema(kind, definitions) for kind in printed(record_types())}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Resolved cluster",
        "type": "object",
        "required": ["cluster_version", *ground],
        "additionalProperties": False,
        "properties": {
            "version": {"description": "Of the form of JSON that every verb prints.", "type": "integer"},
            "is_partial": {"description": "The manifest is invalid, and more may be missing.", "const": True},
            "left_out": {"description": "Fields of the manifest that are wrong.", "items": {"type": "string"}},
            "cluster_version": {"description": "Of the model.", "const": VERSION},
            **ground,
            **others,
        },
        "$defs": dict(sorted(definitions.items())),
    }


def printed(types: Iterable[type]) -> tuple[type, ...]:
    """The record types that are a section of the document."""
    return tuple(record for record in types if not getattr(record, "IS_INTERNAL", False))


class Field(NamedTuple):
    """A field or property of a record."""

    attribute: str
    kind: Any
    """Its annotation."""
    unit: str | None
    """Of a quantity; empty where each has its own. None: no quantity."""
    is_fitted: bool
    """True if only records that are resolved have it."""


@cache
def fields(record: type) -> Mapping[str, Field]:
    """Fields and properties of a record in the document, by printed name; of the cluster itself, its fields."""
    kinds = get_type_hints(record, include_extras=True)
    if record is not Cluster:
        for name, member in _properties(record).items():
            kinds[name] = get_type_hints(member.fget, include_extras=True)["return"]
    return {
        "_".join(filter(None, (name, _unit(kind)))): Field(name, kind, _unit(kind), FITTED in get_args(kind))
        for name, kind in kinds.items()
        if name[0] != "_" and INTERNAL not in get_args(kind)
    }


def _unit(kind: Any) -> str | None:
    """The unit of a quantity, or of a list of them; empty for quantities by name, and None for all else."""
    if isinstance(kind, Unit):
        return kind
    if isinstance(kind, type) and issubclass(kind, PydanticField):
        return kind.UNIT
    inner = next((unit for unit in map(_unit, reversed(get_args(kind))) if unit is not None), None)
    return "" if inner and get_origin(kind) is Mapping else inner


def _properties(record: type) -> dict[str, property]:
    members = {name: member for base in reversed(record.__mro__) for name, member in vars(base).items()}
    return {name: member for name, member in members.items() if isinstance(member, property)}


def _descriptions(record: type) -> dict[str, str]:
    """Of each field: its comment, or the docstring of the property or of one that it overrides; or else what the
    manifest says of it, in the section of the record's name or those in its `SECTIONS`.
    """
    attributes = [field.attribute for field in fields(record).values()]
    texts = {name: f"Place of `{name[:-3]}`" for name in attributes if name.endswith("_at")}
    for base in reversed(record.__mro__[:-1]):
        for section in vars(base).get("SECTIONS", (base.__name__,)):
            texts |= _of_manifest(section, attributes)
    for base in reversed(record.__mro__[:-1]):
        texts |= _COMMENT.findall(inspect.getsource(base))
        members = {name: member.__doc__ for name, member in vars(base).items() if isinstance(member, property)}
        texts |= {name: text for name, text in members.items() if text}
    return {name: _sentence(text) for name, text in texts.items()}


def _of_manifest(section: str, attributes: Iterable[str]) -> dict[str, str]:
    """Descriptions of the fields that a section of the manifest has, be it without the unit, but for what to write."""
    model = _sections().get(section)
    helps = {name: info.description or "" for name, info in model.model_fields.items()} if model else {}
    texts = {name: helps.get(name) or helps.get(_UNIT_IN_NAME.sub("", name), "") for name in attributes}
    return {name: _OF_INPUT.split(text)[0].removesuffix(".") for name, text in texts.items() if text}


@cache
def _sections() -> Mapping[str, type[Section]]:
    """Sections of the manifest by name."""
    models: dict[str, type[Section]] = {}
    pending = Section.__subclasses__()
    while pending:
        model = pending.pop()
        pending += model.__subclasses__()
        models[model.__name__] = model
    return models


def _sentence(text: str) -> str:
    """A comment or docstring on one line, in the words of JSON."""
    words = {"None": "null", "True": "true", "False": "false"}
    return re.sub(r"\b(None|True|False)\b", lambda match: words[match[0]], " ".join(text.split()))


def _plain(value: Any, kind: Any, *, is_top: bool = False) -> object:
    if value is None or type(value) in (str, bool, int, float):
        return value
    record: type = type(value)
    kind, marks = _unfolded(kind, record)
    if HOSTS in marks:
        return compress(value, sort=not isinstance(value, tuple))
    if isinstance(value, PydanticField):
        return value.mib if MIB in marks and isinstance(value, Bytes) else value.number
    if isinstance(value, Release | str):
        return str.__str__(value) if isinstance(value, str) else str(value)
    if isinstance(value, Mapping):
        inner = (get_args(kind) or (Any, Any))[1]
        return {str(key): _plain(item, inner) for key, item in value.items()}
    if isinstance(value, tuple | frozenset | set) and not hasattr(value, "_fields"):
        kinds = get_args(kind) or (Any,)
        items = value if isinstance(value, tuple) else sorted(value)
        if kinds[1:] in ((), (...,)):
            return [_plain(item, kinds[0], is_top=is_top) for item in items]
        return [_plain(item, of, is_top=is_top) for item, of in zip(items, kinds, strict=True)]
    if is_row(record):
        return str(getattr(value, "id", "") or value.name)
    if record is NodeType and not is_top:
        return str(value.name)
    return {name: value_of(value, field) for name, field in fields(record).items()}


def value_of(record: Any, field: Field) -> object:
    """The plain value of a record's field."""
    if field.is_fitted and not record.is_resolved:
        return None
    return _plain(getattr(record, field.attribute), field.kind)


@cache
def _unfolded(kind: Any, of: type) -> tuple[Any, tuple[object, ...]]:
    """The member of a union that values of a type are of, and its marks."""
    for member in get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,):
        bare = get_args(member)[0] if get_origin(member) is Annotated else member
        origin = get_origin(bare) or bare
        if origin is Any or (isinstance(origin, type) and issubclass(of, origin)):
            return bare, get_args(member)[1:] if get_origin(member) is Annotated else ()
    return kind, ()


def is_row(record: Any) -> bool:
    """True for a row of the catalogue, or one of a site's own: the document names it."""
    return isinstance(record, type) and record.__module__.startswith("clustergen.catalogue.")


def _schema(kind: Any, definitions: dict[str, Any], *, is_top: bool = False) -> dict[str, Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        if HOSTS in arguments:
            return {"type": "string", "format": "host-list"}
        bare = _schema(arguments[0], definitions, is_top=is_top)
        return {"anyOf": [bare, {"type": "null"}]} if FITTED in arguments else bare
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(member, definitions) for member in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if kind in _NAMES:
        return {"type": _NAMES[kind]}
    if kind in (Any, object):
        return {}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    if origin is tuple and arguments[1:] != (...,):
        items = [_schema(each, definitions) for each in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin in (tuple, frozenset, set):
        return {"type": "array", "items": _schema(arguments[0], definitions, is_top=is_top)}
    if issubclass(kind, PydanticField):
        number = get_type_hints(kind.number.fget)["return"]
        return _schema(number, definitions) if kind.UNIT else {"type": "string", "examples": list(kind.EXAMPLES)}
    if issubclass(kind, Release | str) or is_row(kind) or (kind is NodeType and not is_top):
        return {"type": "string"}
    if kinds := sorted(kind.__subclasses__(), key=lambda each: each.__name__):
        return {"anyOf": [_record_schema(kind, definitions), *(_schema(each, definitions) for each in kinds)]}
    return _record_schema(kind, definitions)


def _record_schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    if name not in definitions:
        definitions[name] = {}  # a record that holds its own kind ends here
        properties = _properties_of(kind, definitions)
        definitions[name] = {
            "type": "object",
            "description": _sentence(kind.__doc__ or ""),
            "required": list(properties),
            "additionalProperties": False,
            "properties": properties,
        }
    return {"$ref": f"#/$defs/{name}"}


def _properties_of(record: type, definitions: dict[str, Any], *, is_top: bool = False) -> dict[str, Any]:
    texts = _descriptions(record)
    return {
        name: _schema(field.kind, definitions, is_top=is_top)
        | ({"description": texts[field.attribute]} if field.attribute in texts else {})
        for name, field in fields(record).items()
    }
