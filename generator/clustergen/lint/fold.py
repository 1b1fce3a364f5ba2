"""Findings for people: the same one once, and of many alike the first ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from clustergen.diagnostics import Diagnostic, Place, Severity, render
from clustergen.diagnostics.text import count
from clustergen.records import replace

_MOST_ALIKE = 20
_MOST_LINES = 8


def text(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], *, colour: bool = False) -> str:
    """The findings as text; the last line counts all of them, also those that others stand for."""
    shown = render(_fewer(_once(diagnostics)), "text", sources, colour=colour)
    body = shown[: shown.rstrip("\n").rfind("\n") + 1]
    return f"{body}{count(diagnostics)}\n" if diagnostics else ""


def _once(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Of those that say the same, the first one, with the places of the others."""
    alike: dict[tuple[str, Severity, str, str | None], list[Diagnostic]] = {}
    for found in diagnostics:
        alike.setdefault((found.code, found.severity, found.message, found.hint), []).append(found)
    return [
        replace(first, message=f"{first.message} ({len(others) + 1} times{_where(first, others)})") if others else first
        for first, *others in alike.values()
    ]


def _where(first: Diagnostic, others: Sequence[Diagnostic]) -> str:
    """`, also on lines 12, 13 and 40 more`; empty where nobody knows the lines."""
    known = [found.place for found in others if found.place is not None and found.place.line]
    places = list(dict.fromkeys(_line(place, first.place) for place in known))
    if not places:
        return ""
    more = f" and {len(places) - _MOST_LINES} more" if len(places) > _MOST_LINES else ""
    return f", also on line{'s' if len(places) > 1 else ''} {', '.join(places[:_MOST_LINES])}{more}"


def _line(place: Place, first: Place | None) -> str:
    return str(place.line) if first is not None and place.file == first.file else f"{place.line} of {place.file}"


def _fewer(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """No more than twenty of a kind: of ten thousand, people read the first."""
    seen: Counter[tuple[str, Severity]] = Counter()
    kept = []
    for found in diagnostics:
        seen[found.code, found.severity] += 1
        if seen[found.code, found.severity] <= _MOST_ALIKE:
            kept.append(found)
    for (code, severity), number in seen.items():
        if number > _MOST_ALIKE:
            words = f"and {number - _MOST_ALIKE:,} more; --format json shows them all"
            kept.append(Diagnostic(code, severity, None, words))
    return kept
