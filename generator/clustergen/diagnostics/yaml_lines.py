"""Lines of a YAML text around a position, for the hints of its mistakes. Positions count characters from the start."""

from __future__ import annotations

import re

_LONGEST_HINT = 60
_LINE_END = re.compile(r"[\n\r]|$")


def line_number(text: str, at: int) -> int:
    """The number of the line around an index."""
    return (text.count("\n", 0, at) or text.count("\r", 0, at)) + 1


def line_around(text: str, at: int) -> tuple[int, int]:
    """Start and end of the line around an index."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    end = _LINE_END.search(text, at)
    return start, end.start() if end else len(text)


def rest_in_quotes(text: str, at: int) -> str:
    """The rest of a line as it would look in quotes, for a hint."""
    rest = text[at : line_around(text, at)[1]].split(" #")[0].rstrip()
    if not rest or len(rest) > _LONGEST_HINT or "'" in rest or "\\" in rest:
        return '"…"'
    return f"'{rest}'" if '"' in rest else f'"{rest}"'
