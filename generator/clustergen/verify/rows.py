"""The rows of `verify`: one per parser and kind of file, and the exit code that tells the outcomes apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from clustergen.records import record, replace

Status = Literal["passed", "failed", "not run", "no parser"]

FORMATS = ("text", "json", "github")
STATUSES: tuple[Status, ...] = get_args(Status)


@record
class Row:
    """The result of one parser on some files.

    `status`: "not run" is a parser that exists and could not be asked here, "no parser" a kind of file that nobody but
    the program on the node can read, or that is for people. `words`: the parser's own where it failed, the reason where
    it was not run, else what a reader of "passed" has to know. `version`: of what was asked; "" if nothing was.
    """

    check: str
    what: str
    parser: str
    status: Status
    files: tuple[str, ...] = ()  # paths in the tree
    version: str = ""
    words: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        return {
            "check": self.check,
            "what": self.what,
            "parser": self.parser,
            "version": self.version or None,
            "status": self.status.replace(" ", "-"),
            "files": list(self.files),
            "words": list(self.words),
        }


def exit_code(rows: Iterable[Row]) -> int:
    """0: everything that has a parser passed; 1: something failed; 3: nothing failed, but a parser was not asked."""
    statuses = {row.status for row in rows}
    return 1 if "failed" in statuses else 3 if "not run" in statuses else 0


def merged(rows: Sequence[Row]) -> list[Row]:
    """One row where the same version of a parser said the same kind of thing about several nodes."""
    by_check: dict[tuple[str, ...], Row] = {}
    for row in rows:
        key = (row.check, row.what, row.parser, row.version, row.status)
        if previous := by_check.get(key):
            row = replace(previous, files=_union(previous.files, row.files), words=_union(previous.words, row.words))
        by_check[key] = row
    return list(by_check.values())


def _union(one: tuple[str, ...], two: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *two)))


def counts(rows: Iterable[Row]) -> dict[Status, int]:
    """How many rows there are of each status, those of none left out."""
    by_status = Counter(row.status for row in rows)
    return {status: by_status[status] for status in STATUSES if by_status[status]}
