"""Text, JSON and numbers of other machines, which may be hostile; ValueError for what no honest program prints."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from clustergen.diagnostics import quote

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # nvidia-smi underlines its header even into files
_NUMBER = re.compile(r"[0-9]{1,18}")
MOST = 4096
"""Rows of any list: a machine has fewer CPUs, disks or ports than that."""


def plain(text: str) -> str:
    return (_ESCAPE.sub("", text) if "\x1b" in text else text).replace("\r", "")


def json_of(text: str) -> Any:
    """Raises ValueError for what is not JSON, and for numbers that could not be computed with."""
    try:
        return json.loads(text, parse_constant=_refused, parse_int=_integer, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def number(text: str) -> int:
    """A decimal number that fits into 64 bits. Raises ValueError."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{quote(text)} is not a number of at most 18 digits")
    return int(text)


def _integer(text: str) -> int:
    return -number(text[1:]) if text.startswith("-") else number(text)


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refused(text)


def _refused(text: str) -> NoReturn:
    raise ValueError(f"{quote(text)} is not a finite number")
