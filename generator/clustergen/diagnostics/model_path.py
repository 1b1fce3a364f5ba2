"""Follows the location of a pydantic error through a model's annotations, back to a path into the manifest.

pydantic puts more into a location than keys and indices: the tag of a discriminated union, a label for each branch of a
plain union, `[key]` for a mapping's key. What belongs to which is only known by walking the model alongside.
"""

from __future__ import annotations

import re
import types
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel, RootModel
from pydantic.fields import FieldInfo

from clustergen.diagnostics.model import ManifestPath
from clustergen.records import record, replace

_FAR = 8
_MOST_PLACES = 3
_LISTS = (list, tuple, set, frozenset, Sequence)


@record
class Located:
    """Where an error stands: `kind` is the annotation there (None if unknown), `owner` the model around it.

    `is_key` says that a mapping's key is wrong and not its value. `branch` is (path of a plain union, label) where the
    error belongs to one of its branches, the outermost if they nest.
    """

    path: ManifestPath
    kind: Any
    owner: type[BaseModel] | None
    is_key: bool = False
    branch: tuple[ManifestPath, str] | None = None
    declared: Any = None
    """The annotation with its constraints; that of the whole union where the error is at a plain union."""


def follow(model: type[BaseModel], loc: Sequence[str | int]) -> Located:
    """The place that a location of `model`'s ValidationError means."""
    # Ten thousand entries go the same way; an index only matters in a tuple of a few different types.
    shape = tuple(min(part, _FAR) if isinstance(part, int) else part for part in loc)
    kept, member = _resolve(model, shape)
    path = tuple(loc[index] for index in kept)
    branch = member.branch and (path[: len(member.branch[0])], member.branch[1])
    return replace(member, path=path, branch=branch)


@lru_cache(maxsize=1024)
def _resolve(model: type[BaseModel], loc: tuple[str | int, ...]) -> tuple[tuple[int, ...], Located]:
    """Which parts of a location are the path, and what stands there."""
    kept: list[int] = []
    kind: Any = model
    owner: type[BaseModel] | None = None
    branch: tuple[ManifestPath, str] | None = None
    union: Any = None
    for index, part in enumerate(loc):
        declared = kind
        kind, discriminator = _plain(kind)
        if part == "[key]":
            return tuple(kept), Located((), None, owner, True, branch)
        if discriminator is not None:
            kind = _tagged(kind, discriminator, part)
        elif len(_branches(kind)) > 1:
            union = union if branch else declared
            branch = branch or (tuple(loc[done] for done in kept), str(part))
            kind = next((inner for inner in _branches(kind) if _has_label(inner, str(part))), None)
        else:
            owner = kind if is_model(kind) else None
            kind = _inner(kind, part)
            kept.append(index)
    is_union = branch is not None and len(branch[0]) == len(kept)
    return tuple(kept), Located(
        path=(), kind=_plain(kind)[0], owner=owner, is_key=False, branch=branch, declared=union if is_union else kind
    )


def fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields by the keys that a mapping of this model may have."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def keys_of(model: type[BaseModel]) -> list[str]:
    """The keys that a mapping of this model may have."""
    return list(fields_of(model))


def required_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields that a mapping of this model must have, by their keys."""
    return {key: field for key, field in fields_of(model).items() if field.is_required()}


def other_name(model: type[BaseModel] | None, key: str) -> str | None:
    """The field of a section that another tool calls by this key, in any spelling: `mountPoint`, `mount-point`."""
    names: Mapping[str, str] = getattr(model, "OTHER_NAMES", {})
    return names.get(re.sub("[-_]", "", key.casefold()))


def annotated(declared: Any) -> Any:
    """A field as the annotation with its constraints; any other annotation as it is."""
    if not isinstance(declared, FieldInfo):
        return declared
    return Annotated[declared.annotation, *declared.metadata] if declared.metadata else declared.annotation


def plain_of(kind: Any) -> Any:
    """The annotation without Annotated, None and type aliases."""
    return _plain(kind)[0]


def has_switch(kind: Any) -> bool:
    """True if an annotation is of a section that `enabled` turns on and off."""
    plain = _plain(kind)[0]
    return is_model(plain) and "enabled" in plain.model_fields


def takes_switch(declared: Any) -> bool:
    """True if a value may also be true or false: `bool | Literal["nftables"]`."""
    return bool in (_plain(inner)[0] for inner in _branches(_plain(declared)[0]))


@lru_cache(maxsize=4)
def places_of_keys(model: type[BaseModel]) -> Mapping[str, tuple[str, ...]]:
    """For each key anywhere below a model, the sections that have it: `max_time` → `slurm.partitions.<name>`."""
    places: dict[str, list[str]] = {}
    for section, key in _walk(model, "", ()):
        places.setdefault(key, []).append(section)
    return {key: tuple(dict.fromkeys(sections)) for key, sections in places.items()}


def places_for(model: type[BaseModel], path: ManifestPath, present: Container[str]) -> list[str]:
    """The few sections that the unknown key at the end of `path` may have been meant for, best of all its own ones.

    `present`: sections of the top level that the data has. A common word such as `gpu` was not meant for another one.
    """
    places = [place for place in places_of_keys(model).get(str(path[-1]), ()) if place]
    section = section_of(model, path[:-1])
    if not section and len(places) > _MOST_PLACES:
        shallow = [place for place in places if "." not in place]
        return shallow if len(shallow) == 1 else []
    if not section:
        return places
    places = [place for place in places if place != section]  # another kind of entry has it
    if inner := [place for place in places if place.startswith(f"{section}.")]:
        return inner if len(inner) <= _MOST_PLACES else []
    top = section.partition(".")[0]
    if len(places) > 1:  # a common word: what is far away was not meant
        places = [place for place in places if place.partition(".")[0] == top]
    elif "_" not in str(path[-1]):
        places = [place for place in places if place.partition(".")[0] == top or place.partition(".")[0] in present]
    return places if len(places) <= _MOST_PLACES else []


def section_of(model: type[BaseModel], path: ManifestPath) -> str | None:
    """A section as `places_of_keys` names it: `slurm.qos.<name>`; empty for the top level, None where none is there."""
    names = [part for part in path if isinstance(part, str)]
    sections = {place for places in places_of_keys(model).values() for place in places}
    for section in sorted(sections):
        parts = section.split(".") if section else []
        if len(parts) == len(names) and all(part in (name, "<name>") for part, name in zip(parts, names, strict=True)):
            return section
    return None


def choices_of(kind: Any) -> tuple[Any, ...]:
    """The values that a `Literal` allows; empty for any other annotation."""
    plain = _plain(kind)[0]
    return get_args(plain) if get_origin(plain) is Literal else ()


def tags_of(kind: Any, discriminator: str) -> tuple[Any, ...]:
    """The values that tell the branches of a union of models apart."""
    models = (_plain(inner)[0] for inner in _branches(_plain(kind)[0]))
    fields = (model.model_fields.get(discriminator) for model in models if is_model(model))
    return tuple(choice for field in fields if field for choice in choices_of(field))


def models_of(kind: Any) -> list[type[BaseModel]]:
    """The models of a union, or the only one."""
    return [plain for inner in _branches(_plain(kind)[0]) if is_model(plain := _plain(inner)[0])]


def tags_with(kind: Any, discriminator: str, *keys: str) -> tuple[Any, ...]:
    """The tags of those branches of a union of models that have these keys."""
    models = models_of(kind)
    fields = (model.model_fields.get(discriminator) for model in models if set(keys) <= {*keys_of(model)})
    return tuple(choice for field in fields if field for choice in choices_of(field))


def entry_of(kind: Any) -> tuple[type[BaseModel] | None, bool]:
    """The model of a section, or of each entry of a list; and whether it is a list."""
    plain = _plain(kind)[0]
    is_list = get_origin(plain) in _LISTS
    inner = _plain(get_args(plain)[0])[0] if is_list else plain
    return (inner if is_model(inner) else None), is_list


def _walk(kind: Any, section: str, above: tuple[Any, ...]) -> Iterator[tuple[str, str]]:
    for inner in _branches(_plain(kind)[0]):
        plain = _plain(inner)[0]
        origin = get_origin(plain)
        if is_model(plain) and plain not in above:
            for key, field in fields_of(plain).items():
                yield section, key
                yield from _walk(field.annotation, f"{section}.{key}" if section else key, (*above, plain))
        elif origin is dict:
            yield from _walk(get_args(plain)[1], f"{section}.<name>", above)
        elif origin in _LISTS:
            yield from _walk(get_args(plain)[0], section, above)


def _plain(kind: Any) -> tuple[Any, str | None]:
    """The annotation without Annotated, None and type aliases; with a union's discriminator, if it has one."""
    discriminator: str | None = None
    while True:
        metadata: tuple[Any, ...] = ()
        if isinstance(kind, FieldInfo):
            metadata, kind = (kind, *kind.metadata), kind.annotation
        elif get_origin(kind) is Annotated:
            kind, *rest = get_args(kind)
            metadata = tuple(rest)
        elif hasattr(kind, "__value__"):
            kind = kind.__value__
        elif isinstance(kind, type) and issubclass(kind, RootModel):
            kind = kind.model_fields["root"]
        elif get_origin(kind) in (Union, types.UnionType) and len(_branches(kind)) == 1:
            kind = _branches(kind)[0]
        else:
            return kind, discriminator
        for item in metadata:
            tag = getattr(item, "discriminator", None)
            if tag is not None:
                discriminator = tag if isinstance(tag, str) else ""


def _branches(kind: Any) -> tuple[Any, ...]:
    """A union's members without None; anything else is its own only member."""
    if get_origin(kind) in (Union, types.UnionType):
        return tuple(inner for inner in get_args(kind) if inner is not type(None))
    return (kind,)


def _tagged(kind: Any, discriminator: str, tag: str | int) -> Any:
    for inner in _branches(kind):
        plain, _ = _plain(inner)
        if is_model(plain) and discriminator in plain.model_fields:
            if tag in choices_of(plain.model_fields[discriminator]):
                return plain
        elif any(getattr(item, "tag", None) == tag for item in getattr(inner, "__metadata__", ())):
            return plain
    return None


def _has_label(kind: Any, label: str) -> bool:
    """True if pydantic calls this branch of a union so: `str`, `Gpu`, `tuple[int, ...]`, `function-after[f(), str]`."""
    plain, _ = _plain(kind)
    while label.startswith(("function-", "nullable[", "lax-or-strict[", "json-or-python[")):
        label = label.partition("[")[2].removesuffix("]")
        label = label.partition("(), ")[2] or label
    label = label.removeprefix("constrained-")
    origin = get_origin(plain) or plain
    name = "literal" if origin is Literal else getattr(origin, "__name__", "")
    return label == name or label.startswith(f"{name}[")


def _inner(kind: Any, part: str | int) -> Any:
    """The annotation of what stands at a key or an index."""
    if is_model(kind):
        for name, field in kind.model_fields.items():
            if part in (name, field.alias):
                return field
        return None
    origin, args = get_origin(kind), get_args(kind)
    if origin is dict and len(args) == 2:
        return args[1]
    if origin is tuple and isinstance(part, int) and args and args[-1] is not Ellipsis:
        return args[part] if part < len(args) else None
    return args[0] if origin in _LISTS and args else None


def is_model(kind: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def value_at(data: object, path: str | ManifestPath) -> Any:
    """The value at a path, or a field by its name with dots, of plain data or of a model; None where there is none."""
    for part in path.split(".") if isinstance(path, str) else path:
        if isinstance(data, BaseModel):
            data = getattr(data, str(part), None)
            continue
        try:
            data = data[part]  # type: ignore[index]
        except (LookupError, TypeError):
            return None
    return data
