"""What has a say in a line."""

from __future__ import annotations

from typing import Any

from clustergen.diagnostics import Place
from clustergen.records import record


@record
class Cause:
    """A field of the manifest that a line depends on, and a trial that showed it.

    `place` is None for a field that the manifest leaves out. `tried` is what was put in its place; `becomes` is then
    the line, None where it is gone or no one line stands in its place. `valid`: the manifest of that trial is valid.
    """

    path: str
    kind: str
    place: Place | None
    written: str | None
    default: Any
    help: str
    tried: str
    becomes: str | None
    valid: bool
