"""The values of a program of `programs/` as a data file beside it: JSON for Python, assignments for bash.

The file holds the fields of a view. In bash, a tuple of rows becomes one flat array, a row on a line, whose comment
names the columns: the program walks it in steps of their number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from clustergen.records import fields
from clustergen.render.formats import RenderError, finite, one_line, shell_text, shell_word

_WIDTH = 120  # of a line; words of a longer one stand below each other


def print_json(view: Any) -> str:
    return json.dumps(_plain(view), indent=2, ensure_ascii=False) + "\n"


def print_shell(view: Any) -> str:
    """One assignment per field; True and False are the words, None is empty."""
    lines = ["# shellcheck shell=bash disable=SC2034"]
    for name in view if isinstance(view, Mapping) else fields(view):
        lines += _assignment(name, view[name] if isinstance(view, Mapping) else getattr(view, name))
    return "\n".join(lines) + "\n"


def _plain(value: Any) -> Any:
    """The same as values of JSON."""
    if hasattr(value, "__record_fields__"):
        return {name: _plain(getattr(value, name)) for name in fields(value)}
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return one_line(str(value))
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return finite(value)
    raise RenderError(f"{value!r} is not a value for a program")


def _word(value: Any) -> str:
    """Quoted where the shell needs it, and with a comma, of which shellcheck warns between words of an array."""
    plain = _plain(value)
    if isinstance(plain, dict | list):
        raise RenderError(f"{value!r} is not one word of shell")
    if plain is None or isinstance(plain, bool):
        return {None: "''", True: "true", False: "false"}[plain]
    return shell_text(plain) if "," in str(plain) else shell_word(plain)


def _value(value: Any) -> str:
    return shell_text(value) if isinstance(value, str) else _word(value)


def _assignment(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield f"declare -gA {name}=("
        yield from (f"  [{_word(key)}]={_word(item)}" for key, item in value.items())
        yield ")"
    elif not isinstance(value, tuple | list):
        yield f"{name}={_value(value)}"
    elif not any(isinstance(item, tuple) or hasattr(item, "__record_fields__") for item in value):
        words = [_word(item) for item in value]
        line = f"{name}=({' '.join(words)})"
        yield from [line] if len(line) <= _WIDTH else [f"{name}=(", *(f"  {word}" for word in words), ")"]
    else:
        columns = fields(value[0]) if hasattr(value[0], "__record_fields__") else ()
        yield f"{name}=(" + (f" # {' '.join(columns)}" if columns else "")
        for row in value:
            yield "  " + " ".join(_word(item) for item in (map(row.__getattribute__, columns) if columns else row))
        yield ")"
