"""Wording: how messages show a user's text, list choices and guess what was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from clustergen.diagnostics.model import ManifestPath

_LONGEST_QUOTE = 60
_MOST_GUESSES = 100
# Control, bidirectional-override and zero-width characters: a message must not move the cursor or reorder the line.
_UNPRINTABLE = "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]"


def printable(text: str) -> str:
    """The text with every character that a terminal would act on replaced by a visible one of the same length."""
    if text.isprintable():
        return text
    return re.sub(_UNPRINTABLE, _visible, text)


def on_one_line(value: Any) -> str:
    """A value as YAML, which JSON is: quotes only where a text needs them."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {on_one_line(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(on_one_line, value))}]"
    import json

    plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z/][\w/.=-]*|[0-9.]+/[0-9]+|[0-9]+(\.[0-9]+){3}", value)
    return value if plain and value.lower() not in ("true", "false", "null") else json.dumps(value)


def _visible(match: re.Match[str]) -> str:
    char = match.group()
    if char < "\x20":
        return chr(0x2400 + ord(char))
    return "\u2421" if char == "\x7f" else "\ufffd"


def quote(text: object) -> str:
    """A user's word as messages show it: in single quotes, on one line, at most 60 characters."""
    return f"'{cut(printable(str(text)), _LONGEST_QUOTE)}'"


def cut(text: str, longest: int) -> str:
    """A text of at most `longest` characters, with an ellipsis in place of its end."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def shortened(text: str, most: int = 600) -> str:
    """A message without its middle where it is longer than `most`: a value in it may be as long as a file."""
    return text if len(text) <= most else f"{text[: most * 2 // 3]}…{text[len(text) - most // 3 + 1 :]}"


def one_of(choices: Iterable[object], most: int = 12) -> str:
    """Choices as an English list, `'a', 'b' or 'c'`; beyond `most`, the rest is only counted."""
    words = [quote(choice) for choice in choices]
    if len(words) > most:
        words = [*words[:most], f"{len(words) - most} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}" if words else "nothing"


def listed(names: Sequence[str], most: int) -> str:
    """`a, b and 3 more`."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(number: int, noun: str) -> str:
    """`1 node`, `1,024 switches`, `2 leaves`."""
    if number != 1:
        noun = f"{noun[:-1]}ves" if noun.endswith("f") else f"{noun}es" if noun.endswith(("ch", "ss")) else f"{noun}s"
    return f"{number:,} {noun}"


def suggest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that was probably meant, or None. Case, `-`, `_` and spaces do not count as differences."""
    return _suggest(word, tuple(candidates))


@lru_cache(maxsize=64)  # the same slip is often made in many entries
def _suggest(word: str, candidates: tuple[str, ...]) -> str | None:
    plain = _plain(word)
    index = _candidates(candidates)
    if plain in index.by_plain:
        return index.by_plain[plain]
    index.guesses += 1
    if index.guesses > _MOST_GUESSES:
        return None
    import difflib

    # Comparing is the slow part, and a guess never differs much in length.
    slack = max(2, len(plain) // 2)
    close = [candidate for candidate in index.by_plain if abs(len(candidate) - len(plain)) <= slack]
    best = difflib.get_close_matches(plain, close[:2000], n=1, cutoff=0.65)
    return index.by_plain[best[0]] if best else None


class _Candidates:
    """Plain form → candidate, and how many words were compared with them: nobody reads the hundredth guess."""

    def __init__(self, candidates: tuple[str, ...]) -> None:
        self.guesses = 0
        self.by_plain: dict[str, str] = {}
        for candidate in candidates:
            self.by_plain.setdefault(_plain(candidate), candidate)


@lru_cache(maxsize=64)
def _candidates(candidates: tuple[str, ...]) -> _Candidates:
    return _Candidates(candidates)


def forget_guesses() -> None:
    """Restarts the count of guesses: each manifest and each command has a limit of them for a list of candidates."""
    _suggest.cache_clear()
    _candidates.cache_clear()


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """`suggest` as a hint: `did you mean 'h100'?`."""
    meant = suggest(word, candidates)
    return f"did you mean {quote(meant)}?" if meant is not None else None


def where(path: ManifestPath, data: Any) -> str:
    """A path as messages name it: `nodes 'login1'.addresses.bmc`, or `nodes item 2` for an item without a name."""
    words = ""
    for part in path:
        try:
            data = data[part]
        except (LookupError, TypeError):
            data = None
        if isinstance(part, str):
            words += f".{part}" if words else part
        else:
            name = data.get("name") if isinstance(data, Mapping) else None
            words += f" {quote(name)}" if isinstance(name, str) else f" item {part + 1}"
    return printable(words.lstrip())


def _plain(word: str) -> str:
    return word[:200].casefold().translate({45: None, 95: None, 32: None})
