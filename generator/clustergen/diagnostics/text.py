"""Diagnostics for people: the place, the line it stands on, a caret under the exact span, a hint."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from clustergen.diagnostics.codes import Severity
from clustergen.diagnostics.model import Diagnostic, Place
from clustergen.diagnostics.words import counted, printable

_TAB = "    "
_WIDEST_EXCERPT = 160
_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.INFO: "36"}


def render(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], *, colour: bool = False) -> str:
    """One block per diagnostic and a line that counts them; empty when there are none."""
    blocks = render_blocks(diagnostics, sources, colour=colour)
    return f"{blocks}{count(diagnostics)}\n" if diagnostics else ""


def render_blocks(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], *, colour: bool = False) -> str:
    """The same as `render`, without the line that counts."""
    lines: list[str] = []
    split: dict[str, list[str]] = {}
    for diagnostic in diagnostics:
        lines.append(_head(diagnostic, colour))
        place = diagnostic.place
        if place and place.line and place.file in sources:
            if place.file not in split:
                split[place.file] = re.split(r"\r\n|\n|\r", sources[place.file])
            lines.extend(_excerpt(place, split[place.file], _COLOURS[diagnostic.severity] if colour else ""))
        if diagnostic.hint:
            lines.append(f"   {_paint('hint', '1', colour)}: {printable(diagnostic.hint)}")
    return "".join(f"{line}\n" for line in lines)


def count(diagnostics: Sequence[Diagnostic]) -> str:
    """`3 errors, 1 warning`, without what there is none of; empty for no diagnostics."""
    parts = []
    for severity, word in ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "info")):
        number = sum(1 for d in diagnostics if d.severity is severity)
        if number:
            parts.append(counted(number, word))
    return ", ".join(parts)


def render_fewer(
    shown: Sequence[Diagnostic],
    everything: Sequence[Diagnostic],
    sources: Mapping[str, str],
    most: int,
    *,
    colour: bool = False,
    summary: bool = True,
) -> str:
    """The same as `render`, with at most `most` of a kind; the last line, the `summary`, counts everything."""
    blocks = render_blocks(fewer(shown, most, "--format json shows them all"), sources, colour=colour)
    return f"{blocks}{count(everything)}\n" if everything and summary else blocks


def fewer(diagnostics: Iterable[Diagnostic], most: int, others: str) -> list[Diagnostic]:
    """No more than `most` of a kind: of ten thousand, people read the first. `others` says how to see them all."""
    seen: Counter[tuple[str, Severity]] = Counter()
    kept = []
    for diagnostic in diagnostics:
        seen[diagnostic.code, diagnostic.severity] += 1
        if seen[diagnostic.code, diagnostic.severity] <= most:
            kept.append(diagnostic)
    for (code, severity), number in seen.items():
        if number > most:
            kept.append(Diagnostic(code, severity, None, f"and {number - most:,} more; {others}"))
    return kept


def _head(diagnostic: Diagnostic, colour: bool) -> str:
    where = f"{printable(str(diagnostic.place))}: " if diagnostic.place else ""
    label = f"{diagnostic.severity}[{diagnostic.code}]"
    return f"{where}{_paint(label, f'1;{_COLOURS[diagnostic.severity]}', colour)}: {printable(diagnostic.message)}"


def _excerpt(place: Place, lines: list[str], colour: str) -> list[str]:
    if place.line > len(lines):
        return []
    line = lines[place.line - 1]
    start = min(place.column - 1, len(line))
    end = max(min(place.end_column - 1, len(line)), start)
    before, span, after = line[:start], line[start:end], line[end:]
    if len(line) > _WIDEST_EXCERPT:
        before, span, after = _shortened(before, span, after)
    shown = _shown(before + span + after).rstrip()
    carets = "^" * max(_width(_shown(span)), 1)
    pad = " " * _width(_shown(before))
    return [f"{place.line:>5} | {shown}", f"      | {pad}{_paint(carets, colour, bool(colour))}"]


def _shortened(before: str, span: str, after: str) -> tuple[str, str, str]:
    """A window of a very long line, so that the span is in it."""
    if len(span) > 100:
        span, after = span[:100], "…"
    elif len(after) > 40:
        after = after[:40] + "…"
    return ("…" + before[-40:] if len(before) > 41 else before), span, after


def _shown(text: str) -> str:
    return printable(text.replace("\t", _TAB))


def _width(text: str) -> int:
    """Terminal cells: two for East Asian wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def _paint(text: str, style: str, colour: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if colour else text
