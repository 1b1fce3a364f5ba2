"""One finding in a file, and the edit that would settle it."""

from __future__ import annotations

from typing import NamedTuple

from clustergen.diagnostics import Diagnostic


class Fix(NamedTuple):
    """An edit of one span of one physical line.

    `text` takes the place of the span, columns counting from 1 in characters; None takes the whole line away.
    """

    file: str
    """The file's name, as in `Line.file`."""
    line: int
    column: int
    end_column: int
    text: str | None


class LintFinding(NamedTuple):
    """A finding. `fix` is there only where it has one safe answer."""

    diagnostic: Diagnostic
    fix: Fix | None = None
