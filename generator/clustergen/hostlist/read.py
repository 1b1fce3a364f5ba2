"""Reading a folded list: its items, how many names they stand for, and which."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from math import prod

from clustergen.hostlist.errors import MAX_DIGITS, NAME, RANGE, HostlistError, explain

MAX_HOSTS = 65_536
"""The most hosts in one range, and in one list (Slurm's MAX_SLURM_NODES)."""
MOST_NAMES = 32 * MAX_HOSTS
"""The most names in all host lists of one file: 32 partitions of the most nodes that Slurm manages."""

DIGITS = "0123456789"
PLAIN_LIST = re.compile(rf"{NAME}+(?:,{NAME}+)*")
BRACKET = re.compile(r"[\[\]]")
_ITEM = re.compile(rf"(?=[^,\s\]]){NAME}*(?:\[{RANGE}(?:,{RANGE})*\]{NAME}*)*")
_SEPARATOR = re.compile(r"[ \t\n]*,[ \t\n]*|[ \t\n]+|$")

Item = tuple[str, int]
"""One comma-separated part of a list, and its offset in the text."""
Ranges = list[tuple[int, int, int]]
"""(low, high, width) of each range between two brackets."""
Parsed = tuple[list[str], list[Ranges]]
"""The literal texts of an item, and what stands between them."""


def expand(text: str) -> list[str]:
    """Every name of a folded list, in Slurm's order. Blanks between names separate them too, as for Slurm.

    The last bracket varies fastest, as one expects; of three or more, the first varies next, not the last but one.
    """
    return list(_expanded(text))


def names_of(text: str) -> list[str]:
    """The same as `expand`, but no names for a text that is no host list."""
    try:
        return expand(text)
    except HostlistError:
        return []


@lru_cache(maxsize=256)
def _expanded(text: str) -> Sequence[str]:
    """The same as `expand`; a render asks for each list several times, `explain` some hundred times."""
    if PLAIN_LIST.fullmatch(text):
        refuse_too_many(text.count(",") + 1, 0, len(text))
        return text.split(",")
    names: list[str] = []
    for literals, brackets in _parsed(text):
        heads = [literals[0]]
        tails = [""]
        for i, ranges in enumerate(brackets, 1):
            tails = [number + literals[i] for number in _numbers(ranges)] if literals[i] else _numbers(ranges)
            if i < len(brackets):
                heads = [head + tail for tail in tails for head in heads]
        names += [head + tail for head in heads for tail in tails]
    return names


def count(text: str) -> int:
    """How many names a folded list stands for, without making them."""
    if PLAIN_LIST.fullmatch(text):
        total = text.count(",") + 1
        refuse_too_many(total, 0, len(text))
        return total
    return sum(map(_size, _parsed(text)))


def contains(text: str, name: str) -> bool:
    """True if the list holds that name, without expanding it."""
    return any(_matches(*_parse(item, offset), name) for item, offset in items(text))


def span_of(text: str, name: str) -> tuple[int, int] | None:
    """(offset, length) of the first item of the list that stands for that name, for a caret; None where none does."""
    return next(((offset, len(item)) for item, offset in items(text) if _matches(*_parse(item, offset), name)), None)


def items(text: str) -> Iterator[Item]:
    pos = len(text) - len(text.lstrip(" \t\n"))
    if pos == len(text):
        raise HostlistError("a host list without a name", 0, len(text))
    while pos < len(text):
        item = _ITEM.match(text, pos)
        separator = _SEPARATOR.match(text, item.end()) if item else None
        if item is None or separator is None:
            raise explain(text, pos)
        yield item.group(), pos
        pos = separator.end()
        if pos == len(text) and "," in separator.group():
            raise HostlistError("there is no host name after this comma", text.rindex(","))


def _parsed(text: str) -> list[Parsed]:
    """All items of a list that is not too long."""
    parsed: list[Parsed] = []
    for item, offset in items(text):
        parsed.append(_parse(item, offset))
        if len(parsed) > MAX_HOSTS:  # the rest may be megabytes
            raise HostlistError(f"more than {MAX_HOSTS:,} hosts, the maximum of Slurm", 0, len(text))
    refuse_too_many(sum(map(_size, parsed)), 0, len(text))
    return parsed


def _parse(item: str, offset: int) -> Parsed:
    parts = BRACKET.split(item)
    starts = list(accumulate((len(part) + 1 for part in parts), initial=offset))
    parsed = parts[::2], [ranges_of(parts[i], starts[i]) for i in range(1, len(parts), 2)]
    refuse_too_many(_size(parsed), offset, len(item))
    return parsed


def _size(parsed: Parsed) -> int:
    return prod(sum(high - low + 1 for low, high, _ in ranges) for ranges in parsed[1])


def refuse_too_many(size: int, offset: int, length: int) -> None:
    if size > MAX_HOSTS:
        raise HostlistError(f"{size:,} hosts; Slurm manages at most {MAX_HOSTS:,}", offset, length)


def ranges_of(body: str, offset: int) -> Ranges:
    """`body` is known to hold numbers and ranges only."""
    ranges: Ranges = []
    for part in body.split(","):
        low, dash, high = part.partition("-")
        first = last = int(low)
        if dash:
            last = int(high)
            if first > last:
                raise HostlistError(f"{low} is greater than {high}", offset, len(part), f"write [{high}-{low}]")
            if high[0] == "0" and len(high) != len(low):
                hint = f"write [{low.zfill(len(high))}-{high}]: the lower bound sets the width"
                raise HostlistError(f"{low} and {high} have different widths", offset, len(part), hint)
            refuse_too_many(last - first + 1, offset, len(part))
        ranges.append((first, last, len(low)))
        offset += len(part) + 1
    return ranges


def _numbers(ranges: Ranges) -> list[str]:
    numbers: list[str] = []
    for low, high, width in ranges:
        if low == high:
            numbers.append(str(low).zfill(width))
        else:
            form = f"%0{width}d"
            numbers += [form % number for number in range(low, high + 1)]
    return numbers


def _matches(literals: Sequence[str], brackets: Sequence[Ranges], name: str) -> bool:
    if not name.startswith(literals[0]):
        return False
    rest = name[len(literals[0]) :]
    if not brackets:
        return not rest
    digits = len(rest) - len(rest.lstrip(DIGITS))
    # A digit may follow a bracket, so the number need not be all of the digits.
    return any(
        _in_ranges(rest[:width], brackets[0]) and _matches(literals[1:], brackets[1:], rest[width:])
        for width in range(1, min(digits, MAX_DIGITS) + 1)
    )


def _in_ranges(digits: str, ranges: Ranges) -> bool:
    number = int(digits)
    return any(low <= number <= high and str(number).zfill(width) == digits for low, high, width in ranges)
