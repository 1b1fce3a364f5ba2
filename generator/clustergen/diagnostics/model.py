"""The parts of a diagnostic, and the one exception that is shown without a traceback."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from clustergen.diagnostics.codes import CODES, Severity
from clustergen.records import record

ManifestPath: TypeAlias = tuple[str | int, ...]
"""Keys and list indices from the top of a manifest to one value: `("nodes", 0, "type")`."""


class Place(NamedTuple):
    """A span of one line of a file.

    `line` and `column` count from 1, in characters; `end_column` is the first column behind the span, and equal to
    `column` for a point. Line 0 means the file as a whole.
    """

    file: str
    line: int = 0
    column: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@record
class Diagnostic:
    """One thing said about one place of a file. `code` is a key of `CODES`."""

    code: str
    severity: Severity
    place: Place | None
    message: str
    hint: str | None = None

    @classmethod
    def of(cls, code: str, place: Place | None, message: str, hint: str | None = None) -> Diagnostic:
        """A diagnostic with the severity that its code has; KeyError for a code without an entry in `CODES`."""
        return cls(code, CODES[code].severity, place, message, hint)


@record
class Finding:
    """A finding of a rule: a code and a path into the manifest, not yet a line of a file.

    The manifest's `Source` turns it into a `Diagnostic`. `key` points at the last key of the path instead of at its
    value; `at` is (offset, length) in characters inside a scalar value. A path that the manifest does not hold (a
    missing key) points at the nearest key that it does hold. `first` is the other place of what is listed twice.
    """

    code: str
    path: ManifestPath
    message: str
    hint: str | None = None
    key: bool = False
    at: tuple[int, int] | None = None
    first: ManifestPath | None = None


class Problem(NamedTuple):
    """Something wrong with the text: a span in characters from its start. `other` is a second span that matters.

    `lacks_quotes`: the span is text with brackets, so that the rest can be read as if it were in quotes.
    """

    code: str
    start: int
    length: int
    message: str
    hint: str | None = None
    other: tuple[int, int] | None = None
    lacks_quotes: bool = False


class ClustergenError(Exception):
    """Ends a command with a message instead of a traceback.

    `exit_code`: 1, differences or findings; 2, invalid input; 3, the environment failed (a missing program, an
    unreadable file).
    """

    def __init__(self, message: str, hint: str | None = None, exit_code: int = 3) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code


def in_file_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """By file, line and column; without repeats; those without a place first."""
    unique = dict.fromkeys(diagnostics)
    return sorted(unique, key=lambda d: (d.place or Place(""), d.code, d.message))


def exit_code(diagnostics: Iterable[Diagnostic]) -> int:
    """0 when no error is among them, 2 when the input is invalid, 3 when it could not be read at all."""
    return max((CODES[d.code].exit_code for d in diagnostics if d.severity is Severity.ERROR), default=0)
