"""Values that Slurm reads otherwise than their author probably meant: they are imported as Slurm reads them, marked."""

from __future__ import annotations

from clustergen.importer.draft import Draft
from clustergen.importer.originals import Originals
from clustergen.lint.accounting import times
from clustergen.lint.finding import LintFinding
from clustergen.lint.site import Site

_CHECKS = (times,)


def mark_doubts(draft: Draft, originals: Originals, mark: str) -> None:
    """Adds a comment that begins with `mark`, and a note, to each value that one of the checks of lint warns of."""
    site = Site(originals.folder, originals.release)
    for check in _CHECKS:
        for finding in check(site):
            _mark(draft, originals, finding, mark)


def _mark(draft: Draft, originals: Originals, finding: LintFinding, mark: str) -> None:
    diagnostic = finding.diagnostic
    shown = {originals.folder.shown(file): file for file in originals.folder.texts}
    if diagnostic.place is None or diagnostic.place.file not in shown:
        return
    place = shown[diagnostic.place.file], diagnostic.place.line
    for item in draft.items.values():
        for origin in item.origins:
            if (origin.file, origin.line) == place:
                item.comments.append(f"{mark}: {origin.key}={origin.text}: {diagnostic.message}.")
                hint = f" ({diagnostic.hint})" if diagnostic.hint else ""
                draft.note(
                    "choice", f"{origin.key}={origin.text}: {diagnostic.message}{hint}", origin.place, origin.key
                )
