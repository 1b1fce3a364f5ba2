"""Rows as text for people, as JSON for programs, and as workflow commands for GitHub."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from clustergen.verify.rows import Row, Status, counts, exit_code

FORMATS = ("text", "json", "github")

_COLOURS: dict[Status, str] = {"passed": "32", "failed": "31", "not run": "33", "no parser": "2"}


def render(folder: Path, rows: Sequence[Row], form: str, *, colour: bool = False, verbose: bool = False) -> str:
    """All rows of one tree in one of FORMATS."""
    if form == "json":
        document = {"tree": str(folder), "rows": [row.as_dict() for row in rows], "exit_code": exit_code(rows)}
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    if form == "github":
        return "".join(f"{_command(folder, row)}\n" for row in rows if row.status in ("failed", "not run"))
    return _text(rows, colour, verbose)


def summary(rows: Sequence[Row]) -> str:
    """`21 passed, 1 failed, 2 not run, 4 without a parser`"""
    words = {"no parser": "without a parser"}
    return ", ".join(f"{number} {words.get(status, status)}" for status, number in counts(rows).items())


def _text(rows: Sequence[Row], colour: bool, verbose: bool) -> str:
    table = [(row.status, f"{row.parser} {row.version}".strip(), row.what, f"{len(row.files)}") for row in rows]
    widths = [max((len(line[column]) for line in table), default=0) for column in range(4)]
    out = []
    for row, (status, parser, what, files) in zip(rows, table, strict=True):
        shown = status.ljust(widths[0])
        if colour:
            shown = f"\x1b[{_COLOURS[row.status]}m{shown}\x1b[0m"
        unit = "file" if files == "1" else "files"
        out.append(f"{shown}  {parser.ljust(widths[1])}  {what.ljust(widths[2])}  {files.rjust(widths[3])} {unit}")
        if row.status in ("failed", "not run") or verbose:
            out += [f"    {word}" for word in row.words]
        if verbose:
            out += [f"    - {path}" for path in row.files]
    return "".join(f"{line}\n" for line in out)


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
