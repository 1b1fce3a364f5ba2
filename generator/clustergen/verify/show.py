"""Rows as text for people, as JSON for programs, and as workflow commands for GitHub."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path

from clustergen.diagnostics.document import json_document
from clustergen.diagnostics.github import command
from clustergen.verify.checks import Check
from clustergen.verify.rows import STATUSES, Row, Status, counts, exit_code

_COLOURS: dict[Status, str] = {"passed": "32", "failed": "31", "not run": "33", "no parser": "2"}


def render(directory: Path, rows: Sequence[Row], form: str) -> str:
    """All rows of one tree for programs: as JSON, or as workflow commands for GitHub."""
    if form == "json":
        fields = {"tree": str(directory), "rows": [row.as_dict() for row in rows], "exit_code": exit_code(rows)}
        return json_document(fields)
    return "".join(f"{_command(directory, row)}\n" for row in rows if row.status in ("failed", "not run"))


def summary(rows: Sequence[Row]) -> str:
    """`21 passed, 1 failed, 2 not run, 4 without a parser`"""
    words = {"no parser": "without a parser"}
    return ", ".join(f"{number} {words.get(status, status)}" for status, number in counts(rows).items())


Widths = tuple[int, int]
"""Of the columns of the parser with its version, and of the kind of file."""

_STATUS = max(map(len, STATUSES))
_FILES = len("22 files")
_GAP = 2
_VERSION = 14  # characters that most versions fit in, with a space before
_LEAST = 16  # characters of a column that is folded
_INDENT = 4


def widths_of(checks: Iterable[Check]) -> Widths:
    """Columns for rows that are printed before all of them exist."""
    listed = list(checks)
    return max(len(check.parser) for check in listed) + _VERSION, max(len(check.what) for check in listed)


def _narrowed(parser: int, what: int, width: int) -> Widths:
    """The width of a row is shared out: a column that needs less than half of it gets that, the other one the rest."""
    available = width - _STATUS - _FILES - 3 * _GAP
    if not width or parser + what <= available:
        return parser, what
    half = max(available // 2, _LEAST)
    if what <= half:
        return max(available - what, _LEAST), what
    return min(parser, half), max(available - min(parser, half), _LEAST)


def text(
    rows: Sequence[Row],
    widths: Widths = (0, 0),
    *,
    colour: bool = False,
    verbose: bool = False,
    width: int = 0,
    folds_words: bool = False,
) -> str:
    """A line for each row, below it what a reader has to know; columns are as wide as `widths` or the rows ask.

    `width`: what exceeds these columns is folded; 0: nothing is. `folds_words`: the words below a row are folded too.
    """
    longest_parser = max([widths[0], *(len(_parser(row)) for row in rows)])
    longest_what = max([widths[1], *(len(row.what) for row in rows)])
    parser_width, what_width = _narrowed(longest_parser, longest_what, width)
    out = []
    for row in rows:
        status = row.status.ljust(_STATUS)
        if colour:
            status = f"\x1b[{_COLOURS[row.status]}m{status}\x1b[0m"
        unit = "file" if len(row.files) == 1 else "files"
        names = textwrap.wrap(_parser(row), parser_width, break_on_hyphens=False)
        kinds = textwrap.wrap(row.what, what_width, break_on_hyphens=False)
        out.append(
            f"{status}  {names[0].ljust(parser_width)}  {kinds[0].ljust(what_width)}  {len(row.files):>2} {unit}"
        )
        for name, kind in list(zip_longest(names, kinds, fillvalue=""))[1:]:
            out.append(f"{'':{_STATUS}}  {name.ljust(parser_width)}  {kind}".rstrip())
        if row.status in ("failed", "not run") or verbose:
            out += [line for word in row.words for line in _folded(word, width if folds_words else 0)]
        if verbose:
            out += [f"{'':{_INDENT}}- {path}" for path in row.files]
    return "".join(f"{line}\n" for line in out)


def _folded(word: str, width: int) -> list[str]:
    """A message of a program; a path or a word that is longer than a line stays whole, so that it can be copied."""
    indent = " " * _INDENT
    if not width or len(indent) + len(word) <= width:
        return [indent + word]
    more = indent + "  "
    return textwrap.wrap(
        word, width, initial_indent=indent, subsequent_indent=more, break_long_words=False, break_on_hyphens=False
    )


def _parser(row: Row) -> str:
    return f"{row.parser} {row.version}".strip()


def _command(directory: Path, row: Row) -> str:
    level = "error" if row.status == "failed" else "warning"
    place = {"file": str(directory / row.files[0])} if row.files else {}
    title = f"{row.parser} {row.version}: {row.what}, {row.status}"
    return command(level, {**place, "title": title}, "\n".join(row.words))
