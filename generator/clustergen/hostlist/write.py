"""Folding names into lists: Slurm's, and Ansible's patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from clustergen.hostlist.errors import MAX_DIGITS, NAME, HostlistError
from clustergen.hostlist.read import BRACKET, DIGITS, PLAIN_LIST, items, ranges_of, refuse_too_many

_NOT_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._:-"
_NUMBER = re.compile("[0-9]+")


def compress(names: Iterable[str], *, sort: bool = False, suffixes: bool = False) -> str:
    """The names as one folded list that expands to exactly them, in their order.

    One number folds as in Slurm (`n[1-3,5]`, a single name without brackets); equal brackets of neighbours fold once
    more (`rack[0-63]n[1-8]`), and no further, since nobody expects Slurm's order of three. `sort` puts the names in
    natural order first. `suffixes` lets text follow the last bracket (`node[1-2]-ib`), which Slurm reads from 23.11
    on. HostlistError for a name that no list can hold.
    """
    listed = list(names)
    if not listed:
        return ""
    if sort:
        text = compress(listed, suffixes=suffixes)
        if _is_in_order(text):  # as most lists are; sorting 60,000 names takes ten times as long as folding them
            return text
        listed.sort(key=natural_key)
    refuse_too_many(len(listed), 0, 0)
    joined = ",".join(listed)
    if not PLAIN_LIST.fullmatch(joined) or joined.count(",") != len(listed) - 1:
        wrong = next(name for name in listed if not re.fullmatch(f"{NAME}+", name))
        raise HostlistError(f"{wrong!r} is not a host name", 0, len(wrong))
    parts = [(name, "") for name in listed]
    while any(head for head, _ in parts):
        parts = _fold_last_number(parts, suffixes)
    return ",".join(tail for _, tail in parts)


def folded(names: Iterable[str], *, sort: bool = True, suffixes: bool = False) -> str:
    """The names for a message, each once, as `compress` writes them; with commas where one cannot be in a list."""
    listed = list(dict.fromkeys(names))
    try:
        return compress(listed, sort=sort, suffixes=suffixes)
    except HostlistError:
        return ",".join(sorted(listed, key=natural_key) if sort else listed)


def _is_in_order(text: str) -> bool:
    """True if a folded list is seen to be in natural order: its items begin with ascending texts without digits, or it
    has one item, and the numbers between brackets ascend.
    """
    last: str | None = None
    for item, _ in items(text):
        head, *rest = BRACKET.split(item)
        if last is not None and (last >= head or _NUMBER.search(last + head)):
            return False
        ranges = ranges_of(rest[0], 0) if len(rest) == 2 else []
        if len(rest) > 2 or any(low[1] >= high[0] for low, high in pairwise(ranges)):
            return False
        last = head
    return True


def natural_key(name: str) -> tuple[str, str]:
    """Sorts names the way people do: `n2` before `n10`, and `n1` before `n01`.

    One text, which is compared much faster than its parts: NUL, the number of digits and the digits in place of each
    number. A longer number is a larger one, and NUL comes before every character of a name.
    """
    return _NUMBER.sub(_with_length, name), name


def _with_length(match: re.Match[str]) -> str:
    digits = match[0].lstrip("0")
    return f"\0{chr(len(digits))}{digits}"


def ansible_ranges(names: Iterable[str]) -> list[str]:
    """The names as Ansible's inventory patterns, in order: `compute[01:08]`, `login1`.

    Ansible takes one range per bracket, and both bounds at one width if the first begins with 0.
    """
    patterns = []
    for item, _ in items(compress(names)):
        parts = BRACKET.split(item)
        heads = [parts[0]]
        for i in range(1, len(parts), 2):
            heads = [head + bounds + parts[i + 1] for head in heads for bounds in _ansible_bounds(parts[i])]
        patterns += heads
    return patterns


def _fold_last_number(parts: list[tuple[str, str]], suffixes: bool) -> list[tuple[str, str]]:
    """One step of `compress`. A part is (text still to compress, text behind it); neighbours that differ only in the
    last number of the first become one part. A part that cannot fold any more gets an empty first part."""
    out: list[tuple[str, str]] = []
    key: tuple[str, str] | None = None  # the texts before and behind the number
    runs: list[list[int]] = []  # low, high, width
    following: tuple[str, str] | None = None  # the part that would lengthen the last run
    form = ""

    def close() -> None:
        if key is not None:
            body = ",".join(f"{lo:0{w}d}-{hi:0{w}d}" if hi > lo else f"{lo:0{w}d}" for lo, hi, w in runs)
            single = len(runs) == 1 and runs[0][0] == runs[0][1]
            out.append((key[0], (body if single else f"[{body}]") + key[1]))

    for part in parts:
        if part == following:
            runs[-1][1] += 1
            following = form % (runs[-1][1] + 1), part[1]
            continue
        head, tail = part
        stem = head if head[-1:].isdigit() else head.rstrip(_NOT_DIGITS)
        before = stem.rstrip(DIGITS)
        behind = head[len(stem) :] + tail
        width = len(stem) - len(before)
        foldable = not behind or behind[-1] == "]" or suffixes
        if not 0 < width < MAX_DIGITS or not foldable or behind.count("[") > 1:
            close()
            key = following = None
            out.append(("", head + tail))
            continue
        digits = stem[-width:]
        number = int(digits)
        if key != (before, behind):
            close()
            key = before, behind
            runs = []
        runs.append([number, number, width])
        form = f"{before}%0{width}d{head[len(stem) :]}"
        following = form % (number + 1), tail
    close()
    return out


def _ansible_bounds(body: str) -> Iterator[str]:
    for low, high, width in ranges_of(body, 0):
        while low <= high:
            # A padded range ends where its numbers outgrow the padding.
            last = min(high, 10**width - 1) if width > 1 and low < 10 ** (width - 1) else high
            yield f"[{low:0{width}d}:{last:0{width}d}]" if last > low else f"{low:0{width}d}"
            low = last + 1
