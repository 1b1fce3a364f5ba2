"""Errors of a text that is no host list, with their positions."""

from __future__ import annotations

import re

MAX_DIGITS = 18
"""Numbers of so many digits always fit Slurm's unsigned long."""
NAME = r"[A-Za-z0-9._:-]"
RANGE = rf"[0-9]{{1,{MAX_DIGITS}}}(?:-[0-9]{{1,{MAX_DIGITS}}})?"


class HostlistError(ValueError):
    """A host list that cannot be read; `offset` and `length` say which characters of it, for a caret."""

    def __init__(self, message: str, offset: int, length: int = 1, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.length = length
        self.hint = hint


def explain(text: str, pos: int) -> HostlistError:
    """Why no item of a list can be read at `pos`."""
    start = pos
    while pos < len(text) and text[pos] not in ", \t\n":
        if text[pos] == "[":
            end = pos + 1
            while end < len(text) and text[end] not in "[]":
                end += 1
            if end == len(text):
                return HostlistError("this bracket is never closed", pos, 1, f"write {text}]")
            if text[end] == "[":
                return HostlistError("nested brackets", end, 1, "close the first bracket before you open the next")
            if error := _explain_ranges(text[pos + 1 : end], pos + 1):
                return error
            pos = end
        elif text[pos] == "]":
            return HostlistError("this bracket was never opened", pos)
        elif not re.match(NAME, text[pos]):
            hint = "write the range, as n[01-08]: a host list has no wildcards" if text[pos] in "*?" else None
            return HostlistError(f"{text[pos]!r} is not allowed in a host name", pos, 1, hint)
        pos += 1
    if pos == start:
        return HostlistError("there is no host name before this comma", pos)
    return HostlistError("this is not a host list", start, pos - start)


def _explain_ranges(body: str, offset: int) -> HostlistError | None:
    if not body:
        return HostlistError("empty brackets", offset - 1, 2)
    for part in body.split(","):
        if not re.fullmatch(RANGE, part):
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
        return HostlistError(
            "a host list does not support steps", offset, length, "write the numbers one by one: [1,3,5]"
        )
    if re.fullmatch(r"[0-9]+(:|\.\.|\.\.\.|–|to)[0-9]+", part):
        low, high = re.findall("[0-9]+", part)
        return HostlistError("'-' separates the ends of a range", offset, length, f"write [{low}-{high}]")
    if re.fullmatch("[0-9]+-", part):
        return HostlistError("this range has no end", offset, length)
    if re.fullmatch("[0-9-]+", part) and max(map(len, part.split("-"))) > MAX_DIGITS:
        return HostlistError(f"a number of more than {MAX_DIGITS} digits", offset, length)
    return HostlistError(f"{part!r} is not a number or a range of numbers", offset, length)
