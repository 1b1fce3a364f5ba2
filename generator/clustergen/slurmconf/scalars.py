"""Scalars of Slurm's files as its parsers read them: integers, booleans, times, amounts, lists.

A reader returns None for a text that Slurm's own reader refuses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, get_args

from clustergen.hostlist import HostlistError, expand
from clustergen.units.digits import whole

TRUE = ("yes", "up", "true", "1")
FALSE = ("no", "down", "false", "0")
NO_LIMIT = ("unlimited", "infinite")
"""In place of a number: the largest that its type holds."""
LogLevel = Literal["quiet", "fatal", "error", "info", "verbose", "debug", "debug2", "debug3", "debug4", "debug5"]
LOG_LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)
KIB = ("uint32", "uint64")
"""Types of keys whose numbers may end in `k`, for 1024."""
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+")
_TIME = re.compile(r"[0-9:-]+")
_LONGEST = 2**31 - 1  # Slurm counts seconds in an int
_AMOUNT = re.compile(r"([0-9]+)([kmgtp]?)b?", re.IGNORECASE)


def boolean(text: str) -> bool | None:
    """A word of `TRUE` or `FALSE`, in any case."""
    word = text.lower()
    return True if word in TRUE else False if word in FALSE else None


def unsigned(text: str, kind: str = "uint64") -> int | None:
    """The number as strtoul() of base 0 reads it: hexadecimal behind 0x, octal behind 0; an empty text is 0."""
    text, factor = text.lstrip(" \t").removeprefix("+"), 1
    if not text:
        return 0
    if kind in KIB and text[-1:] in ("k", "K"):
        text, factor = text[:-1], 1024
    if not _NUMBER.fullmatch(text):
        return None
    octal = len(text) > 1 and text[0] == "0" and text[1] not in "xX"
    try:
        return int(text, 8 if octal else 0) * factor
    except ValueError:  # a digit that octal lacks, or thousands of digits
        return None


def seconds_of(text: str) -> int | None:
    """Seconds of `days-hours:minutes:seconds` and its like; -1 for no limit. A bare number counts minutes.

    Slurm checks how many numbers, dashes and colons there are, not how they stand.
    """
    if text.lower() in ("-1", *NO_LIMIT):
        return -1
    if not _TIME.fullmatch(text) or text.startswith("-"):
        return None
    numbers = re.findall("[0-9]+", text)
    dashes, colons = text.count("-"), text.count(":")
    needed = colons + 1 + (1 if dashes and colons else 0)
    if not numbers or dashes > 1 or colons > 2 or len(numbers) < needed or "-" in text[text.find(":") :][colons < 1 :]:
        return None
    values = [*map(whole, numbers), 0, 0, 0, 0]
    if dashes:
        days, hours, minutes, rest = values[:4]
    elif len(numbers) >= 3:
        days, (hours, minutes, rest) = 0, values[:3]
    else:
        days, hours, minutes, rest = 0, 0, values[0], values[1]
    total = ((days * 24 + hours) * 60 + minutes) * 60 + rest
    return total if total <= _LONGEST else None


def amount(text: str) -> int | None:
    """A count with K, M, G, T or P behind it, in steps of 1024."""
    match = _AMOUNT.fullmatch(text)
    return whole(match[1]) << 10 * " kmgtp".index(match[2].lower() or " ") if match else None


def words(text: str) -> list[str]:
    """The words of a list with commas, without blanks around them."""
    return [word for part in text.split(",") if (word := part.strip())]


def hosts_of(text: str) -> list[str]:
    """The names of a host list; the text itself where it is none."""
    try:
        return expand(text) if text.strip() else []
    except HostlistError:
        return [text]


def files_of(text: str) -> list[str]:
    """`/dev/nvidia[0-3]` as its files; also several, with commas."""
    paths: list[str] = []
    for part in re.findall(r"(?:[^,\[\]]|\[[^\]]*\])+", text):
        directory, slash, name = part.strip().rpartition("/")
        paths += [directory + slash + each for each in hosts_of(name)]
    return paths


def gres(text: str) -> dict[tuple[str, str], int]:
    """`gpu:h100:8,shard:32(S:0-1)` as (name, type) → count."""
    return dict(_gres(text))


@lru_cache(maxsize=8)  # one text stands for many nodes
def _gres(text: str) -> Mapping[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for word in re.findall(r"(?:[^,(]|\([^)]*\)?)+", text):
        name, *rest = word.partition("(")[0].strip().split(":")
        count = 1
        if rest and (number := amount(rest[-1])) is not None:
            count = number
            rest.pop()
        kind = (name.lower(), ":".join(part for part in rest if part.lower() != "no_consume").lower())
        counts[kind] = counts.get(kind, 0) + count
    return counts
