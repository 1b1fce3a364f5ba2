"""Values and lines that Slurm's parser reads back as they were. ValueError for what the grammar cannot write."""

from __future__ import annotations

import re
from collections.abc import Iterable

_KEY = re.compile(r"[A-Za-z0-9_.]+")
_BARE = re.compile(r"[!$-\[\]-~]+")  # visible ASCII without ", # and \
_UNWRITABLE = re.compile('[\x00-\x08\x0a-\x1f\x7f"]')


def quote_value(text: str) -> str:
    """A value as it stands behind `Key=`: escaped, and in double quotes where it is empty, has blanks or is not ASCII.

    ValueError for a double quote, a newline or another control character: no escape writes them.
    """
    if _BARE.fullmatch(text):
        return text
    wrong = _UNWRITABLE.search(text)
    if wrong:
        raise ValueError(f"a value cannot hold {wrong.group()!r}: {text!r}")
    escaped = text.replace("\\", "\\\\").replace("#", "\\#")
    return f'"{escaped}"' if not text or not text.isascii() or " " in text or "\t" in text else escaped


def line(pairs: Iterable[tuple[str, str]]) -> str:
    """`Key=Value Key=Value`, one line without its newline. ValueError for a key or value that cannot be written."""
    words = []
    for key, value in pairs:
        if not _KEY.fullmatch(key):
            raise ValueError(f"{key!r} cannot be a key")
        words.append(f"{key}={quote_value(value)}")
    if not words:
        raise ValueError("a line without a pair")
    return " ".join(words)
