"""The choice of an output format. Each format is a module, loaded when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from clustergen.diagnostics.model import Diagnostic

if TYPE_CHECKING:
    from clustergen.diagnostics.suppressions import Suppressed

FORMATS = ("text", "json", "github", "sarif")


def render(
    diagnostics: Sequence[Diagnostic],
    form: str = "text",
    sources: Mapping[str, str] | None = None,
    *,
    colour: bool = False,
    suppressed: Sequence[Suppressed] = (),
) -> str:
    """All diagnostics, in the order given, in one of `FORMATS`; ends with a newline unless it is empty.

    `sources` maps file names, as `Place.file` has them, to their text; only the text format quotes from it. `colour`
    too is for the text format alone; `suppressed` diagnostics are in JSON and SARIF. ValueError for another format.
    """
    if form == "text":
        from clustergen.diagnostics import text

        return text.render(diagnostics, sources or {}, colour=colour)
    if form == "json":
        from clustergen.diagnostics import machine

        return machine.render(diagnostics, suppressed)
    if form == "github":
        from clustergen.diagnostics import github

        return github.render(diagnostics)
    if form == "sarif":
        from clustergen.diagnostics import sarif

        return sarif.render(diagnostics, suppressed)
    raise ValueError(f"no diagnostics format is called {form!r}")


def wants_colour(stream: TextIO) -> bool:
    """True if output to this stream is coloured: never with NO_COLOR (no-color.org), always with CLICOLOR_FORCE other
    than 0 (bixense.com/clicolors), else on terminals.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return os.environ.get("TERM") != "dumb" and stream.isatty()
