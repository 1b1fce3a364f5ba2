"""Rows as text for people, as JSON for programs, and as workflow commands for GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from clustergen.verify.checks import Check
from clustergen.verify.rows import STATUSES, Row, Status, counts, exit_code

_COLOURS: dict[Status, str] = {"passed": "32", "failed": "31", "not run": "33", "no parser": "2"}


def render(folder: Path, rows: Sequence[Row], form: str) -> str:
    """All rows of one tree for programs: as JSON, or as workflow commands for GitHub."""
    if form == "json":
        document = {"tree": str(folder), "rows": [row.as_dict() for row in rows], "exit_code": exit_code(rows)}
        return json.dumps(document, indent=1, ensure_ascii=True) + "\n"
    return "".join(f"{_command(folder, row)}\n" for row in rows if row.status in ("failed", "not run"))


def summary(rows: Sequence[Row]) -> str:
    """`21 passed, 1 failed, 2 not run, 4 without a parser`"""
    words = {"no parser": "without a parser"}
    return ", ".join(f"{number} {words.get(status, status)}" for status, number in counts(rows).items())


Widths = tuple[int, int]
"""Of the columns of the parser with its version, and of the kind of file."""

_STATUS = max(map(len, STATUSES))
_VERSION = 14  # characters that most versions fit in, with a space before


def widths_of(checks: Iterable[Check]) -> Widths:
    """Columns for rows that are printed before all of them exist."""
    listed = list(checks)
    return max(len(check.parser) for check in listed) + _VERSION, max(len(check.what) for check in listed)


def text(rows: Sequence[Row], widths: Widths = (0, 0), *, colour: bool = False, verbose: bool = False) -> str:
    """A line for each row, below it what a reader has to know; columns are as wide as `widths` or the rows ask."""
    parser_width = max([widths[0], *(len(_parser(row)) for row in rows)])
    what_width = max([widths[1], *(len(row.what) for row in rows)])
    out = []
    for row in rows:
        status = row.status.ljust(_STATUS)
        if colour:
            status = f"\x1b[{_COLOURS[row.status]}m{status}\x1b[0m"
        unit = "file" if len(row.files) == 1 else "files"
        out.append(
            f"{status}  {_parser(row).ljust(parser_width)}  {row.what.ljust(what_width)}  {len(row.files):>2} {unit}"
        )
        if row.status in ("failed", "not run") or verbose:
            out += [f"    {word}" for word in row.words]
        if verbose:
            out += [f"    - {path}" for path in row.files]
    return "".join(f"{line}\n" for line in out)


def _parser(row: Row) -> str:
    return f"{row.parser} {row.version}".strip()


def _command(folder: Path, row: Row) -> str:
    level = "error" if row.status == "failed" else "warning"
    place = f"file={_property(str(folder / row.files[0]))}," if row.files else ""
    title = _property(f"{row.parser} {row.version}: {row.what}, {row.status}")
    message = "\n".join(row.words)
    return f"::{level} {place}title={title}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
