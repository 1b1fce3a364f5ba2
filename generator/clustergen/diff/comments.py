"""A comparison of two texts of one file without their comments."""

from __future__ import annotations


def same_but_for_comments(old: str, new: str) -> bool:
    """Lines of comment and blank lines apart. All files that an effect matters for begin a comment with #."""
    return _statements(old) == _statements(new)


def _statements(text: str) -> list[str]:
    lines = text.splitlines()
    return [line for index, line in enumerate(lines) if _counts(line.strip(), index)]


def _counts(line: str, index: int) -> bool:
    return bool(line) and (not line.startswith("#") or (index == 0 and line.startswith("#!")))
