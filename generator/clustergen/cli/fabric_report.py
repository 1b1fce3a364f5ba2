"""Findings about a fabric as text, JSON, workflow commands and Markdown: a headline for many of a kind, then each."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from clustergen.cli import output
from clustergen.diagnostics import CODES, Diagnostic, Place, Severity, printable
from clustergen.diagnostics.document import json_document
from clustergen.diagnostics.words import counted
from clustergen.hardware.findings import Group, Report

_MOST_LINES = 200  # of one group, in text
_MOST_ROWS = 100  # of one group, in Markdown: GitHub takes 65,536 characters in a comment
_MOST_ANNOTATED = 20
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def show(report: Report, form: str) -> None:
    """Prints a report to stdout in one of the formats of `clustergen fabric check`."""
    if form == "json":
        output.findings(_json(report))
    elif form == "github":
        output.findings("".join(_commands(report)))
    elif form == "markdown":
        output.findings(_markdown(report))
    else:
        output.findings("".join(f"{line}\n" for line in _lines(report, colour=output.colour(sys.stdout))))
        output.verdict(_verdict(report))


def _verdict(report: Report) -> str:
    counts = [
        (sum(1 for one in report.diagnostics() if one.severity is severity), str(severity))
        for severity in (Severity.ERROR, Severity.WARNING)
    ]
    text = ", ".join(counted(count, name) for count, name in counts if count)
    return text or printable(f"{report.file}: {report.agreement}.")


def _head(code: str, *, colour: bool) -> str:
    severity = CODES[code].severity
    label = f"{severity}[{code}]"
    return click.style(label, fg=_COLOURS[severity], bold=True) if colour else label


def _lines(report: Report, *, colour: bool) -> Iterator[str]:
    hint = click.style("hint", bold=True) if colour else "hint"
    for one in report.reading:
        yield f"{printable(_place(one.place))}: {_head(one.code, colour=colour)}: {printable(one.message)}"
        yield f"   {hint}: {one.hint}"
    for group in report.groups:
        head = _head(group.code, colour=colour)
        if not group.headline:
            (item,) = group.items
            place = _place(Place(report.file, item.line))
            yield f"{printable(place)}: {head}: {printable(item.message)}"
        else:
            yield f"{printable(report.file)}: {head}: {printable(group.headline)}"
            for item in group.items[:_MOST_LINES]:
                line = f"line {item.line}: " if item.line else ""
                yield f"   {line}{printable(item.message)}"
            if len(group.items) > _MOST_LINES:
                yield f"   … and {len(group.items) - _MOST_LINES:,} more; --format json shows them all"
        yield f"   {hint}: {group.hint}"


def _place(place: Place | None) -> str:
    return "" if place is None else f"{place.file}:{place.line}" if place.line else place.file


def _json(report: Report) -> str:
    """The document of other verbs, and `groups` with the headlines in the order of the diagnostics."""
    from clustergen.diagnostics.machine import as_data

    groups = [
        {"code": group.code, "headline": group.headline or group.items[0].message, "count": len(group.items)}
        for group in report.groups
    ]
    return json_document({**as_data(report.diagnostics()), "groups": groups, "remarks": list(report.remarks)})


def _commands(report: Report) -> Iterator[str]:
    """One annotation for a group: GitHub shows ten of a kind."""
    from clustergen.diagnostics.github import render

    yield render(report.reading)
    for group in report.groups:
        items = [item.message for item in group.items[:_MOST_ANNOTATED]]
        if len(group.items) > _MOST_ANNOTATED:
            items.append(f"… and {len(group.items) - _MOST_ANNOTATED:,} more")
        message = "\n".join([group.headline, *items] if group.headline else items)
        yield render([Diagnostic.of(group.code, Place(report.file, group.items[0].line, 1, 1), message, group.hint)])


def _markdown(report: Report) -> str:
    from clustergen.diagnostics.words import shortened
    from clustergen.diff.markdown import code, within_comment
    from clustergen.diff.markdown import plain as escaped

    def plain(text: str) -> str:
        return escaped(shortened(printable(text)))

    parts = [f"**Fabric: {plain(_verdict(report))}**", *(f"- {plain(remark)}" for remark in report.remarks)]
    parts += [f"\n- {code(one.code)} {plain(one.message)}. Next: {plain(one.hint or '')}." for one in report.reading]
    for group in report.groups:
        parts += ["", *_section(group, plain, code)]
    text = within_comment("\n".join(parts), "clustergen fabric check")
    return f"{text}\n"


def _section(group: Group, plain: object, code: object) -> Iterator[str]:
    assert callable(plain)
    assert callable(code)
    title = group.headline or CODES[group.code].title
    yield f"#### {CODES[group.code].severity}: {plain(title)} ({code(group.code)})"
    yield ""
    for item in group.items[:_MOST_ROWS]:
        yield f"- {plain(item.message)}"
    if len(group.items) > _MOST_ROWS:
        yield f"- …and {len(group.items) - _MOST_ROWS:,} more"
    yield ""
    yield f"Next: {plain(group.hint)}."
