"""Values that Slurm reads otherwise than their author probably meant: they are imported as Slurm reads them, marked."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.importer.draft import Draft
from clustergen.importer.originals import Originals
from clustergen.lint.accounting import times
from clustergen.lint.finding import LintFinding
from clustergen.lint.keys import keys
from clustergen.lint.site import Site
from clustergen.slurmrules import durations


def _two_numbers(site: Site) -> Iterator[LintFinding]:
    return (finding for finding in keys(site, "slurm.conf") if finding.diagnostic.code == durations.CODE)


_CHECKS = (times, _two_numbers)


def mark_doubts(draft: Draft, originals: Originals, mark: str) -> None:
    """Adds a comment that begins with `mark`, and a note, to each value that one of the checks of lint warns of."""
    site = Site(originals.directory, originals.release)
    for check in _CHECKS:
        for finding in check(site):
            _mark(draft, originals, finding, mark)


def _mark(draft: Draft, originals: Originals, finding: LintFinding, mark: str) -> None:
    diagnostic = finding.diagnostic
    shown = {originals.directory.shown(file): file for file in originals.directory.texts}
    if diagnostic.place is None or diagnostic.place.file not in shown:
        return
    place = shown[diagnostic.place.file], diagnostic.place.line
    start, end = diagnostic.place.column - 1, (diagnostic.place.end_column or 0) - 1
    text = originals.directory.texts[place[0]].split("\n")[place[1] - 1][start:end]
    for item in draft.items.values():
        for origin in item.origins:
            if (origin.file, origin.line, origin.text) == (*place, text):
                comment = f"{mark}: {origin.key}={origin.text}: {diagnostic.message}."
                item.comments += [comment] if comment not in item.comments else []
                hint = f" ({diagnostic.hint})" if diagnostic.hint else ""
                draft.note(
                    "choice", f"{origin.key}={origin.text}: {diagnostic.message}{hint}", origin.place, origin.key
                )
