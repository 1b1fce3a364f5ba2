"""The meaning of a scalar of a YAML file: the core schema of YAML 1.2 (yaml.org/spec/1.2.2, 10.3).

So `yes`, `off`, `24:00:00` and `2026-01-01` are text. One difference: a number with a leading zero (`0755`, octal in
YAML 1.1 and decimal in 1.2) is text too.
"""

from __future__ import annotations

import re
from typing import Any

CORE = "tag:yaml.org,2002:"
# Patterns stay text until one is needed: compiling them all would slow every run.
_INTEGER = r"[-+]?(0|[1-9][0-9]{0,300})"
_BASED = r"0o[0-7]{1,100}|0x[0-9a-fA-F]{1,100}"
_FLOAT = r"(?=.*[.eE])[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
_NOT_FINITE = r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_TAGGED = {f"{CORE}int": int, f"{CORE}float": float, f"{CORE}bool": bool, f"{CORE}null": type(None)}
_NUMBER_STARTS = frozenset("0123456789+-.")


def plain_value(text: str) -> Any:
    """The value of a plain (unquoted) scalar: None, a bool, an int, a float, or the text itself."""
    if text in CONSTANTS:
        return CONSTANTS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    if re.fullmatch(_INTEGER, text):
        return int(text)
    if re.fullmatch(_BASED, text):
        return int(text, 0)
    if re.fullmatch(_FLOAT, text):
        return float(text)
    if re.fullmatch(_NOT_FINITE, text):
        return float(text.lower().replace(".", ""))
    return text


def is_core(tag: str) -> bool:
    """True if a tag is one of YAML's own for scalars."""
    return tag == f"{CORE}str" or tag in _TAGGED


def tagged_value(tag: str, text: str, plain: bool) -> Any:
    """The value of a scalar with a tag. Raises ValueError for a tag that is not YAML's own, or that does not fit."""
    if tag == f"{CORE}str":
        return text
    value = plain_value(text) if plain else text
    reader = _TAGGED.get(tag)
    if reader is float and type(value) is int:
        return float(value)
    if type(value) is not reader:
        raise ValueError(f"{text!r} is not {tag}")
    return value
