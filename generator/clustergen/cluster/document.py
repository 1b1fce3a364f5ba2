"""The resolved cluster as a document of plain values, with its JSON Schema: what `clustergen resolve` prints.

`VERSION` rises when a name goes away or changes its meaning; names that are added leave it as it is. Host names and
addresses are folded, and what the document has in one place is a name in others: the node type of an entry of `nodes`.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from clustergen.catalogue.versions import Release
from clustergen.cluster.annotations import HOSTS, WORDING
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.resolve import record_types, section_name
from clustergen.hostlist import compress
from clustergen.units.base import PydanticField

VERSION = 1
_COMMENT = re.compile(r"^    (\w+): .*?  # (.+)$", re.MULTILINE)
_NAMES = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null"}


def section_names(cluster: Cluster) -> tuple[str, ...]:
    """The sections of a cluster's document, in order."""
    return (*_ground(), *map(section_name, cluster.record_types))


def document(cluster: Cluster, section: str | None = None) -> dict[str, object]:
    """The whole model, or one section of it, as mappings, lists, texts, numbers, booleans and None.

    LookupError for a section that the cluster does not have.
    """
    values: dict[str, object] = {"cluster_version": VERSION}
    for name, kind in _ground().items():
        if section in (None, name):
            values[name] = _plain(getattr(cluster, name), kind, is_top=True)
    for record in cluster.record_types:
        if section in (None, name := section_name(record)):
            values[name] = _plain(cluster.of(record), record)
    if len(values) == 1:
        raise LookupError(section)
    return values


def schema_text() -> str:
    """The JSON Schema as a file."""
    return json.dumps(schema(), indent=1) + "\n"


def schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of the document, of any cluster."""
    definitions: dict[str, Any] = {}
    texts = _comments(Cluster)
    ground = {
        name: _schema(kind, definitions, is_top=True) | ({"description": texts[name]} if name in texts else {})
        for name, kind in _ground().items()
    }
    others = {section_name(kind): _schema(kind, definitions) for kind in record_types()}
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
            "cluster_version": {"const": VERSION},
            **ground,
            **others,
        },
        "$defs": dict(sorted(definitions.items())),
    }


def _ground() -> dict[str, Any]:
    """Fields of the cluster itself with their annotations."""
    return _fields(Cluster)


@cache
def _fields(record: type) -> dict[str, Any]:
    """Public fields and properties with their annotations; of the cluster itself, its fields."""
    kinds = get_type_hints(record, include_extras=True)
    if record is not Cluster:
        for name, member in _properties(record).items():
            kinds[name] = get_type_hints(member.fget, include_extras=True)["return"]
    return {name: kind for name, kind in kinds.items() if name[0] != "_" and WORDING not in get_args(kind)}


def _properties(record: type) -> dict[str, property]:
    members = {name: member for base in reversed(record.__mro__) for name, member in vars(base).items()}
    return {name: member for name, member in members.items() if isinstance(member, property)}


def _comments(record: type) -> dict[str, str]:
    """Comments behind the fields of a record, and docstrings of its properties, or of those that they override."""
    texts: dict[str, str] = {}
    for base in reversed(record.__mro__[:-1]):
        texts |= _COMMENT.findall(inspect.getsource(base))
        members = {name: member.__doc__ for name, member in vars(base).items() if isinstance(member, property)}
        texts |= {name: text for name, text in members.items() if text}
    return {name: _sentence(text) for name, text in texts.items()}


def _sentence(text: str) -> str:
    """A comment or docstring on one line, in the words of JSON."""
    words = {"None": "null", "True": "true", "False": "false"}
    return re.sub(r"\b(None|True|False)\b", lambda match: words[match[0]], " ".join(text.split()))


def _plain(value: Any, kind: Any, *, is_top: bool = False) -> object:
    if value is None or type(value) in (bool, int, float):
        return value
    kind, is_folded = _unfolded(kind, value)
    if is_folded:
        return compress(value, sort=not isinstance(value, tuple))
    if isinstance(value, Release | PydanticField | str):
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
    record: type = type(value)
    if _is_row(record):
        return str(getattr(value, "id", "") or value.name)
    if record is NodeType and not is_top:
        return str(value.name)
    return {name: _plain(getattr(value, name), of) for name, of in _fields(record).items()}


def _unfolded(kind: Any, value: object) -> tuple[Any, bool]:
    """The member of a union that a value is of, without what is annotated, and whether that is a list of hosts."""
    for member in get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,):
        bare = get_args(member)[0] if get_origin(member) is Annotated else member
        origin = get_origin(bare) or bare
        if origin is Any or (isinstance(origin, type) and isinstance(value, origin)):
            return bare, get_origin(member) is Annotated and HOSTS in get_args(member)
    return kind, False


def _is_row(record: Any) -> bool:
    """True for a row of the catalogue, or one of a site's own: the document names it."""
    return isinstance(record, type) and record.__module__.startswith("clustergen.catalogue.")


def _schema(kind: Any, definitions: dict[str, Any], *, is_top: bool = False) -> dict[str, Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        folded = {"type": "string", "format": "host-list"}
        return folded if HOSTS in arguments else _schema(arguments[0], definitions, is_top=is_top)
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
        return {"type": "string", "examples": list(kind.EXAMPLES)}
    if issubclass(kind, Release | str) or _is_row(kind) or (kind is NodeType and not is_top):
        return {"type": "string"}
    if kinds := sorted(kind.__subclasses__(), key=lambda each: each.__name__):
        return {"anyOf": [_record_schema(kind, definitions), *(_schema(each, definitions) for each in kinds)]}
    return _record_schema(kind, definitions)


def _record_schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    if name not in definitions:
        definitions[name] = {}  # a record that holds its own kind ends here
        texts = _comments(kind)
        fields = {
            field: _schema(of, definitions) | ({"description": texts[field]} if field in texts else {})
            for field, of in _fields(kind).items()
        }
        definitions[name] = {
            "type": "object",
            "description": _sentence(kind.__doc__ or ""),
            "required": list(fields),
            "additionalProperties": False,
            "properties": fields,
        }
    return {"$ref": f"#/$defs/{name}"}
