"""Slurm's folded host lists: `compute[01-08],login1` stands for nine names.

The order of a list is kept everywhere, because the order of node lines is Slurm's node index order; names that stand
twice stay twice. A range is padded to the width of its low bound, so `n1` and `n01` are different hosts. A list may
hold addresses as well (`10.0.0.[11-18]`, `fd00::[1-8]`); the numbers in brackets are decimal text there too.
Stricter than Slurm in what is always a slip of the pen: stray commas, `[5-]`, `[1-08]`, characters no host name has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import prod

MAX_HOSTS = 65_536
"""The most hosts in one range, and in one list (Slurm's MAX_SLURM_NODES)."""

_MAX_DIGITS = 18  # what always fits Slurm's unsigned long; a fold starts below it, since a run may outgrow its width
_DIGITS = "0123456789"
_NOT_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._:-"
_NAME = r"[A-Za-z0-9._:-]"
_RANGE = rf"[0-9]{{1,{_MAX_DIGITS}}}(?:-[0-9]{{1,{_MAX_DIGITS}}})?"
_PLAIN_LIST = re.compile(rf"{_NAME}+(?:,{_NAME}+)*")
_ITEM = re.compile(rf"(?=[^,\s\]]){_NAME}*(?:\[{_RANGE}(?:,{_RANGE})*\]{_NAME}*)*")
_SEPARATOR = re.compile(r"[ \t\n]*,[ \t\n]*|[ \t\n]+|$")
_BRACKET = re.compile(r"[\[\]]")
_ONE_RANGE = re.compile(_RANGE)
_NUMBER = re.compile("([0-9]+)")

Item = tuple[str, int]
"""One comma-separated part of a list, and its offset in the text."""
Ranges = list[tuple[int, int, int]]
"""(low, high, width) of each range between two brackets."""
Parsed = tuple[list[str], list[Ranges]]
"""The literal texts of an item, and what stands between them."""


class HostlistError(ValueError):
    """A host list that cannot be read; `offset` and `length` say which characters of it, for a caret."""

    def __init__(self, message: str, offset: int, length: int = 1, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.length = length
        self.hint = hint


def expand(text: str) -> list[str]:
    """Every name of a folded list, in order. Blanks between names separate them too, as for Slurm."""
    if _PLAIN_LIST.fullmatch(text):
        names = text.split(",")
        _refuse_too_many(len(names), 0, len(text))
        return names
    parsed = [_parse(item, offset) for item, offset in _items(text)]
    _refuse_too_many(sum(map(_size, parsed)), 0, len(text))
    names = []
    for literals, brackets in parsed:
        here = [literals[0]]
        for ranges, literal in zip(brackets, literals[1:], strict=True):
            tails = _numbers(ranges)
            if literal:
                tails = [number + literal for number in tails]
            here = [head + tail for head in here for tail in tails]
        names += here
    return names


def count(text: str) -> int:
    """How many names a folded list stands for, without making them."""
    if _PLAIN_LIST.fullmatch(text):
        return text.count(",") + 1
    total = sum(_size(_parse(item, offset)) for item, offset in _items(text))
    _refuse_too_many(total, 0, len(text))
    return total


def contains(text: str, name: str) -> bool:
    """Whether the list holds that name, without expanding it."""
    return any(_matches(_BRACKET.split(item), name) for item, _ in _items(text))


def fold(names: Iterable[str], *, sort: bool = False, suffixes: bool = False) -> str:
    """The names as one folded list that expands to exactly them, in their order.

    One number folds as in Slurm (`n[1-3,5]`, a single name without brackets); equal brackets of neighbours fold once
    more (`rack[0-63]n[1-8]`). `sort` puts the names in natural order first. `suffixes` lets text follow the last
    bracket (`node[1-2]-ib`), which Slurm reads from 23.11 on. HostlistError for a name that no list can hold.
    """
    listed = sorted(names, key=natural_key) if sort else list(names)
    if not listed:
        return ""
    _refuse_too_many(len(listed), 0, 0)
    joined = ",".join(listed)
    if not _PLAIN_LIST.fullmatch(joined) or joined.count(",") != len(listed) - 1:
        wrong = next(name for name in listed if not re.fullmatch(f"{_NAME}+", name))
        raise HostlistError(f"{wrong!r} is not a host name", 0, len(wrong))
    items = [(name, "") for name in listed]
    while any(head for head, _ in items):
        items = _fold_last_number(items, suffixes)
    return ",".join(tail for _, tail in items)


def natural_key(name: str) -> tuple[list[tuple[str, int, str]], str]:
    """Sorts names the way people do: `n2` before `n10`."""
    parts = [*_NUMBER.split(name), ""]
    numbers = [number.lstrip("0") for number in parts[1::2]]
    return [(text, len(number), number) for text, number in zip(parts[::2], numbers, strict=True)], name


def ansible_ranges(names: Iterable[str]) -> list[str]:
    """The names as Ansible's inventory patterns, in order: `compute[01:08]`, `login1`.

    Ansible takes one range per bracket, and both bounds at one width if the first begins with 0.
    """
    patterns = []
    for item, _ in _items(fold(names)):
        parts = _BRACKET.split(item)
        heads = [parts[0]]
        for i in range(1, len(parts), 2):
            heads = [head + bounds + parts[i + 1] for head in heads for bounds in _ansible_bounds(parts[i])]
        patterns += heads
    return patterns


def validate_for_slurm(text: str, release: str) -> None:
    """HostlistError where slurmctld of that release (`24.11`) would not read the list as meant."""
    year, month = (int(part) for part in release.split(".")[:2])
    widths: dict[str, tuple[int, int]] = {}
    for item, offset in _items(text):
        if ":" in item:
            raise HostlistError("an address is not a host name", offset, len(item))
        suffix = item.rpartition("]")[2] if "]" in item else ""
        if suffix and (year, month) < (23, 11):
            hint = f"Slurm reads it from 23.11 on; before, write the names one by one: a{suffix},b{suffix}"
            raise HostlistError(
                f"text after the last bracket: Slurm {release} cannot read it",
                offset + len(item) - len(suffix),
                len(suffix),
                hint,
            )
        _refuse_mixed_padding(item, offset, widths)
    count(text)


def _items(text: str) -> Iterator[Item]:
    pos = len(text) - len(text.lstrip(" \t\n"))
    if pos == len(text):
        raise HostlistError("a host list without a name", 0, len(text))
    while pos < len(text):
        item = _ITEM.match(text, pos)
        separator = _SEPARATOR.match(text, item.end()) if item else None
        if item is None or separator is None:
            raise _explain(text, pos)
        yield item.group(), pos
        pos = separator.end()
        if pos == len(text) and "," in separator.group():
            raise HostlistError("no host name stands behind this comma", text.rindex(","))


def _parse(item: str, offset: int) -> Parsed:
    parts = _BRACKET.split(item)
    starts = list(accumulate((len(part) + 1 for part in parts), initial=offset))
    parsed = parts[::2], [_ranges(parts[i], starts[i]) for i in range(1, len(parts), 2)]
    _refuse_too_many(_size(parsed), offset, len(item))
    return parsed


def _size(parsed: Parsed) -> int:
    return prod(sum(high - low + 1 for low, high, _ in ranges) for ranges in parsed[1])


def _refuse_too_many(size: int, offset: int, length: int) -> None:
    if size > MAX_HOSTS:
        raise HostlistError(f"{size:,} hosts; Slurm takes at most {MAX_HOSTS:,}", offset, length)


def _ranges(body: str, offset: int) -> Ranges:
    """`body` is known to hold numbers and ranges only."""
    ranges: Ranges = []
    for part in body.split(","):
        low, dash, high = part.partition("-")
        first = last = int(low)
        if dash:
            last = int(high)
            if first > last:
                raise HostlistError(f"{low} is more than {high}", offset, len(part), f"write [{high}-{low}]")
            if high[0] == "0" and len(high) != len(low):
                hint = f"the low bound sets the width; write [{low.zfill(len(high))}-{high}]"
                raise HostlistError(f"{low} and {high} have different widths", offset, len(part), hint)
            _refuse_too_many(last - first + 1, offset, len(part))
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


def _matches(parts: Sequence[str], name: str) -> bool:
    if not name.startswith(parts[0]):
        return False
    rest = name[len(parts[0]) :]
    if len(parts) == 1:
        return not rest
    digits = len(rest) - len(rest.lstrip(_DIGITS))
    # A digit may follow a bracket, so the number need not be all of the digits.
    return any(
        _in_ranges(rest[:width], parts[1]) and _matches(parts[2:], rest[width:]) for width in range(1, digits + 1)
    )


def _in_ranges(digits: str, body: str) -> bool:
    if len(digits) > _MAX_DIGITS:
        return False
    number = int(digits)
    return any(low <= number <= high and str(number).zfill(w) == digits for low, high, w in _ranges(body, 0))


def _fold_last_number(items: list[tuple[str, str]], suffixes: bool) -> list[tuple[str, str]]:
    """One step of `fold`. An item is (text still to fold, folded text behind it); neighbours that differ only in the
    last number of the first become one item. An item that cannot fold any more gets an empty first part."""
    out: list[tuple[str, str]] = []
    key: tuple[str, str] | None = None  # the texts before and behind the number
    runs: list[list[int]] = []  # low, high, width
    following: tuple[str, str] | None = None  # the item that would lengthen the last run
    form = ""

    def close() -> None:
        if key is not None:
            body = ",".join(f"{lo:0{w}d}-{hi:0{w}d}" if hi > lo else f"{lo:0{w}d}" for lo, hi, w in runs)
            single = len(runs) == 1 and runs[0][0] == runs[0][1]
            out.append((key[0], (body if single else f"[{body}]") + key[1]))

    for item in items:
        if item == following:
            runs[-1][1] += 1
            following = form % (runs[-1][1] + 1), item[1]
            continue
        head, tail = item
        stem = head if head[-1:].isdigit() else head.rstrip(_NOT_DIGITS)
        before = stem.rstrip(_DIGITS)
        behind = head[len(stem) :] + tail
        width = len(stem) - len(before)
        if not 0 < width < _MAX_DIGITS or not (suffixes or not behind or behind[-1] == "]"):
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
    for low, high, width in _ranges(body, 0):
        while low <= high:
            # A padded range ends where its numbers outgrow the padding.
            last = min(high, 10**width - 1) if width > 1 and low < 10 ** (width - 1) else high
            yield f"[{low:0{width}d}:{last:0{width}d}]" if last > low else f"{low:0{width}d}"
            low = last + 1


def _refuse_mixed_padding(item: str, offset: int, seen: dict[str, tuple[int, int]]) -> None:
    """`seen` remembers, for the text before a last number, the narrowest number and the widest padding."""
    before, opened, body = item.rpartition("]")[0].rpartition("[")
    if not opened:
        before = item.rstrip(_DIGITS)
        body = item[len(before) :]
    if not body or not _ONE_RANGE.match(body) or (not opened and len(body) > _MAX_DIGITS):
        return
    narrow, padded = seen.get(before, (_MAX_DIGITS, 0))
    for low, _, width in _ranges(body, offset):
        narrow = min(narrow, width)
        if width > 1 and low < 10 ** (width - 1):
            padded = max(padded, width)
    if padded > narrow:
        message = f"numbers behind '{before}' are padded to {padded} digits in one place and not in another"
        raise HostlistError(message, offset, len(item), "n1 and n01 are different hosts; write one width throughout")
    seen[before] = narrow, padded


def _explain(text: str, pos: int) -> HostlistError:
    """Why no item of a list can be read at `pos`."""
    start = pos
    while pos < len(text) and text[pos] not in ", \t\n":
        if text[pos] == "[":
            end = pos + 1
            while end < len(text) and text[end] not in "[]":
                end += 1
            if end == len(text):
                return HostlistError("this bracket is never closed", pos)
            if text[end] == "[":
                return HostlistError("a bracket inside a bracket", end, 1, "close the first one before the next opens")
            if error := _explain_ranges(text[pos + 1 : end], pos + 1):
                return error
            pos = end
        elif text[pos] == "]":
            return HostlistError("this bracket was never opened", pos)
        elif not re.match(_NAME, text[pos]):
            hint = "a host list knows no wildcards; write the range, n[01-08]" if text[pos] in "*?" else None
            return HostlistError(f"{text[pos]!r} cannot stand in a host name", pos, 1, hint)
        pos += 1
    if pos == start:
        return HostlistError("no host name stands before this comma", pos)
    return HostlistError("this is not a host list", start, pos - start)


def _explain_ranges(body: str, offset: int) -> HostlistError | None:
    if not body:
        return HostlistError("empty brackets", offset - 1, 2)
    for part in body.split(","):
        if not _ONE_RANGE.fullmatch(part):
            return _explain_range(part, offset)
        offset += len(part) + 1
    return None


def _explain_range(part: str, offset: int) -> HostlistError:
    length = max(1, len(part))
    if not part:
        return HostlistError("a number is missing in these brackets", offset)
    if part.strip() != part:
        return HostlistError("a blank inside brackets", offset, length, f"write {part.strip()!r} without it")
    if re.fullmatch("[0-9]+-[0-9]+[/:%][0-9]+", part):
        return HostlistError("a host list has no steps", offset, length, "write the numbers one by one: [1,3,5]")
    if re.fullmatch(r"[0-9]+(:|\.\.|\.\.\.|–|to)[0-9]+", part):
        low, high = re.findall("[0-9]+", part)
        return HostlistError("a range is written with '-'", offset, length, f"write [{low}-{high}]")
    if re.fullmatch("[0-9]+-", part):
        return HostlistError("this range has no end", offset, length)
    if re.fullmatch("[0-9-]+", part) and max(map(len, part.split("-"))) > _MAX_DIGITS:
        return HostlistError(f"a number of more than {_MAX_DIGITS} digits", offset, length)
    return HostlistError(f"{part!r} is not a number or a range of numbers", offset, length)
