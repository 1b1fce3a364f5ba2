"""The causes of a line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clustergen.diagnostics import Place
from clustergen.records import record


@record
class Cause:
    """A field of the manifest that a line depends on, and a trial that showed it.

    `place` is None for a field that the manifest leaves out. `tried` is what was put in its place; `becomes` is then
    the line, None if it is gone or no single line replaces it. `valid`: the manifest of that trial is valid.
    """

    path: str
    kind: str
    place: Place | None
    text: str | None
    default: Any
    help: str
    tried: str
    becomes: str | None
    valid: bool


def without_wholes(causes: list[Cause]) -> list[Cause]:
    """Without whole entries of which a part is a cause, too."""
    parts = [cause.path for cause in causes if cause.kind in ("value", "key")]
    return [cause for cause in causes if cause.kind != "entry" or not has_part(cause.path, parts)]


def has_part(whole: str, paths: Iterable[str]) -> bool:
    """True if one of the paths is within another one."""
    return any(path.startswith((f"{whole}.", f"{whole}[")) for path in paths)
