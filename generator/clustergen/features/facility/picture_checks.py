"""SVG pictures of the tree: librsvg draws them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clustergen.verify.check import Check, Trial, failure, paths
from clustergen.verify.files import Entry
from clustergen.verify.programs import ask, find
from clustergen.verify.rows import Row

_DIRECTORY = "/tmp/pictures"  # in the sandbox
# A PNG of some hundred bytes is a picture that draws nothing.
_DRAW = r"""
cd "$1" && shift
for file; do
  "$program" --output=/tmp/drawn.png "$file" || { echo "$file: not drawn"; exit 1; }
  [ "$(stat -c %s /tmp/drawn.png)" -gt 1000 ] || { echo "$file: drawn empty"; exit 1; }
done
"""


def _drawn(check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
    directory = trial.scratch / "pictures"
    for entry in entries:
        entry.write(directory / _DIRECTORY.lstrip("/") / entry.path)
    answer = ask(
        find("rsvg-convert"),
        _DRAW,
        version="$program --version",
        arguments=[_DIRECTORY, *(entry.path for entry in entries)],
        stand_ins=((directory, "/"),),
    )
    yield check.judged(entries, failure(answer), (), answer.version)


CHECKS = (
    Check(
        name="pictures",
        what="pictures of racks and networks",
        parser="rsvg-convert",
        proves="librsvg parses every picture and draws it. Its style for dark mode is for browsers, which are not run.",
        reads=paths("facility/*.svg"),
        ask=_drawn,
    ),
)
