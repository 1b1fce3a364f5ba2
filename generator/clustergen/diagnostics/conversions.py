"""Values in place of refused ones: the same words in the shape of the field, each tried against its type.

What has a hint of its own is asked before: this is for any field, whatever its type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, PydanticUserError, TypeAdapter, ValidationError

from clustergen.diagnostics.forms import form_of, sample_of
from clustergen.diagnostics.model_path import (
    annotated,
    choices_of,
    entry_of,
    fields_of,
    is_model,
    models_of,
    other_name,
    plain_of,
    required_of,
)
from clustergen.diagnostics.shapes import key_pattern
from clustergen.diagnostics.words import on_one_line, quote, suggest

_MOST_ITEMS = 16
_MOST_DEPTH = 3
_LONGEST_TEXT = 200
_LONGEST_HINT = 120
_NAME = "name"
_STRICT = ConfigDict(strict=True)


def conversion_hint(value: Any, declared: Any) -> str | None:
    """The hint with a value of the field's type that is made of this one; None where there is none, or a long one."""
    meant = converted(value, declared) if declared is not None and value is not None else None
    line = f"write {on_one_line(meant)}" if meant is not None else ""
    if isinstance(value, Mapping) and isinstance(meant, list):
        absent = [part for part in dict.fromkeys(_scalars([*value.values()])) if part.casefold() not in line.casefold()]
        line += f"; {' and '.join(map(quote, absent))} must go elsewhere" if absent else ""
    return line if 0 < len(line) <= _LONGEST_HINT else None


def _scalars(value: Any) -> Iterator[str]:
    """The texts and numbers among values."""
    if isinstance(value, (Mapping, list, tuple)):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _scalars(part)
    elif type(value) in (str, int, float):
        yield str(value)


def converted(value: Any, declared: Any, depth: int = 0) -> Any:
    """A value that the field accepts, made of one that it refuses; None if there is none."""
    if depth > _MOST_DEPTH or _size(value) > _MOST_ITEMS or (isinstance(value, str) and len(value) > _LONGEST_TEXT):
        return None
    tries = [value, *_candidates(value, declared, depth)] if depth else _candidates(value, declared, depth)
    return next((one for one in tries if one not in (None, {}, []) and fits(one, declared)), None)


def fits(value: Any, declared: Any) -> bool:
    """True if a field accepts a value as YAML has it, with lists."""
    declared = annotated(declared)
    is_section = is_model(declared)
    try:
        TypeAdapter(declared, config=None if is_section else _STRICT).validate_python(_frozen(value))
    except (ValidationError, PydanticUserError):
        return False
    return True


def sample_section(model: type[BaseModel]) -> dict[str, Any] | None:
    """A section with its required keys alone, by their samples and choices; None where a key has none."""
    keys = _required(model, {})
    return keys if keys and None not in keys.values() and fits(keys, model) else None


def _candidates(value: Any, declared: Any, depth: int) -> Iterator[Any]:
    kind = plain_of(declared)
    for inner in get_args(kind) if models_of(declared) and not is_model(kind) and get_origin(kind) is None else ():
        yield from _candidates(value, inner, depth)
    if isinstance(value, (list, tuple)) and len(value) == 1 and get_origin(kind) not in (tuple, dict):
        yield from (value[0], converted(value[0], declared, depth + 1))
    model, is_list = entry_of(declared)
    if get_origin(kind) is tuple:
        yield from _as_list(value, get_args(kind)[0], model, depth)
    elif get_origin(kind) is dict and type(value) in (int, float):
        yield from ({key: value} for key in _usual_keys(kind))
    elif get_origin(kind) is dict:
        yield from _as_names(value, get_args(kind)[1], depth)
    elif model is not None and not is_list:
        yield from _as_section(value, model, depth)
    elif isinstance(value, Mapping):
        yield from _only(value)
    elif isinstance(value, str):
        yield from _as_scalar(value, declared)


def _as_list(value: Any, item: Any, model: type[BaseModel] | None, depth: int) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield [value]
        if model is not None:
            yield _each([_named(key, part, model, depth) for key, part in value.items()])
            yield _each([converted(value, item, depth + 1)])
            return
        values = [part for each in value.values() for part in (each if isinstance(each, (list, tuple)) else [each])]
        yield from ([joined] for joined in (_only(value) if len(value) > 1 else ()))
        yield [key if part is True else f"{key}={part}" for key, part in value.items()]
        yield from ([list(value)] if _has_no_values(value) else [])
        yield values
    elif isinstance(value, (list, tuple)):
        yield _each([_or_converted(part, item, depth) for part in value])
    elif isinstance(value, str):
        parts = [part for part in re.split(r"[,;\s]+", value) if part]
        yield from ([value], parts, _each([converted(part, item, depth + 1) for part in parts]))
    yield _each([converted(value, item, depth + 1)])


def _as_names(value: Any, inner: Any, depth: int) -> Iterator[Any]:
    """Sections or values by name: of a list with names, and of a mapping whose values have another shape."""
    if isinstance(value, Mapping):
        yield _all({key: _or_converted(part, inner, depth) for key, part in value.items()})
    rows = value if isinstance(value, (list, tuple)) else [value]
    if pairs := _by_name(rows):
        yield _all({key: _or_converted(part, inner, depth) for key, part in pairs.items()})
    elif models_of(inner) and all(isinstance(row, str) for row in rows):
        yield {row: {} for row in rows}
        yield _all({re.split(r"\W", row)[0]: converted(row, inner, depth + 1) for row in rows})


def _by_name(rows: Any) -> dict[str, Any] | None:
    """Entries of a list by their names; None where one has none."""
    if not rows or not all(isinstance(row, Mapping) and isinstance(row.get(_NAME), str) for row in rows):
        return None
    return {row[_NAME]: {key: part for key, part in row.items() if key != _NAME} for row in rows}


def _as_section(value: Any, model: type[BaseModel], depth: int) -> Iterator[Any]:
    fields = fields_of(model)
    if isinstance(value, (list, tuple)):
        value = _by_name(value) or value
    if isinstance(value, Mapping):
        renamed = {name: part for key, part in value.items() if (name := _key_of(key, model))}
        if len(renamed) == len(value):
            whole = {key: _or_converted(part, fields[key], depth) for key, part in renamed.items()}
            yield _all({**_required(model, whole), **whole})
        return
    if value is None or isinstance(value, bool):
        return
    meant = getattr(model, "MEANT_BY_SCALAR", "")
    required = required_of(model)
    switches = [key for key, field in fields.items() if choices_of(field)]
    counts = ["count"] if isinstance(value, int) and "count" in fields else []
    direct = [key for key, field in fields.items() if fits(value, field)]
    direct = direct if len(direct) == 1 else []
    for key in dict.fromkeys([*([meant] if meant else []), *counts, *required, *switches, *direct]):
        part = _or_converted(value, fields[key], depth)
        yield _all({**_required(model, {key: part}), key: part})


def _key_of(key: Any, model: type[BaseModel]) -> str | None:
    """The key of a section that a word is or stands for; None for any other word."""
    name = key if key in model.model_fields else other_name(model, str(key))
    return None if name is None else model.model_fields[name].alias or name


def _named(key: Any, value: Any, model: type[BaseModel], depth: int) -> Any:
    """An entry of a list for a key of a mapping and its value: `{device: mlx5_0, model: cx7}` for `mlx5_0: cx7`."""
    fields, required = fields_of(model), required_of(model)
    if _key_of(key, model):
        return None
    name = next((each for each in (_NAME, *required, *fields) if each in fields and fits(key, fields[each])), None)
    if name is None:
        return None
    if isinstance(value, Mapping):
        return _all({name: key, **{part: _or_converted(each, fields.get(part), depth) for part, each in value.items()}})
    others = dict.fromkeys([*required, getattr(model, "MEANT_BY_SCALAR", "")])
    tries = ({name: key, part: value} for part in others if part not in (name, ""))
    whole = next((entry for entry in tries if value is not None and fits(entry, model)), None)
    alone = {name: key} if re.search(r"\d", str(key)) else None  # what it has there is said elsewhere
    return whole or (alone if alone and fits(alone, model) else None)


def _or_converted(value: Any, declared: Any, depth: int) -> Any:
    return value if fits(value, declared) else converted(value, declared, depth + 1)


def _required(model: type[BaseModel], present: Mapping[str, Any]) -> dict[str, Any]:
    """Samples of the required keys that a section lacks."""
    return {key: _sample(field) for key, field in required_of(model).items() if key not in present}


def _sample(field: Any) -> Any:
    if sample := sample_of(field):
        return int(sample.text) if sample.text.isdigit() else sample.text
    return next(iter((*(field.examples or ()), *choices_of(field))), None)


def _only(value: Mapping[Any, Any]) -> Iterator[Any]:
    """The only value or key of a mapping, or two joined: `mail.example.org:25` of host and port, `10.0.0.30@o2ib`."""
    if len(value) == 1:
        yield from value.keys() if _has_no_values(value) else value.values()
    elif len(value) == 2 and all(type(part) in (str, int) for part in value.values()):
        yield from (sign.join(map(str, value.values())) for sign in ":@")


def _has_no_values(value: Mapping[Any, Any]) -> bool:
    """True if a mapping only names its keys: `{rdma: true}`."""
    return all(part in (True, None, {}, []) and type(part) is not int for part in value.values())


def _as_scalar(text: str, declared: Any) -> Iterator[Any]:
    """The text without what surrounds it, in other letters, or the nearest choice."""
    plain = text.strip(" \t'\"`<>,;")
    yield from (plain, plain.lower(), plain.upper())
    if choices := [str(choice) for choice in choices_of(declared)]:
        yield suggest(plain, choices)
    elif re.fullmatch(r"\d+(\.\d+)?", plain):
        yield float(plain) if "." in plain else int(plain)


def _usual_keys(declared: Any) -> list[str]:
    """The keys of a mapping that people mean by another word: `gres/gpu` of limits."""
    form = form_of(key_pattern(declared))
    return list(form.others.values())[:1] if form else []


def _each(values: list[Any]) -> list[Any] | None:
    return None if not values or any(value is None for value in values) else values


def _all(values: dict[Any, Any]) -> dict[Any, Any] | None:
    return None if any(value is None for value in values.values()) else values


def _size(value: Any) -> int:
    return len(value) if isinstance(value, (Mapping, list, tuple)) else 0


def _frozen(value: Any) -> Any:
    """The value with tuples for lists, which is what sections accept."""
    if isinstance(value, Mapping):
        return {key: _frozen(part) for key, part in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value
