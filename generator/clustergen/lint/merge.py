"""Findings for people: the same one once, and of many alike the first ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clustergen.diagnostics import Diagnostic, Place, Severity
from clustergen.diagnostics.text import render_fewer
from clustergen.diagnostics.words import listed
from clustergen.records import replace

_MOST_ALIKE = 20
_MOST_LINES = 8


def text(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], *, colour: bool = False, summary: bool = True
) -> str:
    """The findings as text; the last line counts all of them, also those that others stand for."""
    return render_fewer(_once(diagnostics), diagnostics, sources, _MOST_ALIKE, colour=colour, summary=summary)


def _once(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Of those that say the same, the first one, with the places of the others."""
    alike: dict[tuple[str, Severity, str, str | None], list[Diagnostic]] = {}
    for one in diagnostics:
        alike.setdefault((one.code, one.severity, one.message, one.hint), []).append(one)
    return [
        replace(first, message=f"{first.message} ({len(others) + 1} times{_where(first, others)})") if others else first
        for first, *others in alike.values()
    ]


def _where(first: Diagnostic, others: Sequence[Diagnostic]) -> str:
    """`, also on lines 12, 13 and 40 more`; empty where nobody knows the lines."""
    in_files = [diagnostic.place for diagnostic in others if diagnostic.place is not None and diagnostic.place.line]
    places = list(dict.fromkeys(_line(place, first.place) for place in in_files))
    if not places:
        return ""
    return f", also on line{'s' if len(places) > 1 else ''} {listed(places, _MOST_LINES)}"


def _line(place: Place, first: Place | None) -> str:
    return str(place.line) if first is not None and place.file == first.file else f"{place.line} of {place.file}"
