"""Checks that the fields of records have the types that their classes declare: for those that extensions make."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError


def check(item: object) -> None:
    """TypeError for a field of another type in a record, and in what it holds."""
    kind: Any = type(item)
    if isinstance(item, Mapping):
        for part in item.values():
            check(part)
    elif isinstance(item, (tuple, list)) and not hasattr(kind, "_fields"):
        for part in item:
            check(part)
    for name, validate in _fields(kind).items():
        value = getattr(item, name)
        try:
            validate(value)
        except ValidationError as err:
            message = err.errors(include_url=False)[0]["msg"]
            raise TypeError(f"{kind.__name__}: {name} is {value!r}: {message}") from None
        check(value)


@cache
def _fields(kind: Hashable) -> Mapping[str, Callable[[Any], Any]]:
    names = getattr(kind, "__record_fields__", ()) or getattr(kind, "_fields", ())
    types = _types(kind) if names else {}
    return {name: _validator(types.get(name, Any)) for name in names}


def _types(kind: Any) -> Mapping[str, Any]:
    """Types of fields. One that a module imports for type checkers alone is looked up in ours that are loaded."""
    others: dict[str, Any] = {}
    while True:
        try:
            return get_type_hints(kind, {**vars(sys.modules[kind.__module__]), **others} if others else None)
        except NameError as err:
            name = str(err.name)
            if name in others:
                return {}
            loaded = [module for path, module in list(sys.modules.items()) if path.startswith("clustergen.")]
            candidates = (getattr(module, name, None) for module in loaded)
            others[name] = next((each for each in candidates if isinstance(each, type)), Any)


def _validator(annotation: Any) -> Callable[[Any], Any]:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation, config=ConfigDict(arbitrary_types_allowed=True))
    except PydanticUserError:  # a model has its own configuration, and checks itself
        return lambda value: value
    return lambda value: adapter.validate_python(value, strict=True)
