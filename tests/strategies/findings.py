"""Findings of `validate` for a manifest given as text, in a form that a table of cases can hold."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from clustergen.compile import validate
from clustergen.diagnostics import Diagnostic
from clustergen.hardware.findings import Report
from strategies.reviewed import expected, same_words

TINY = """\
name: tiny
os: debian-12
networks:
  management: {cidr: 10.0.0.0/24}
node_types:
  h100: {system: dgx-h100}
nodes:
  - {name: head, type: service, address: 10.0.0.1, roles: [slurm-controller]}
  - {name: "gpu[1-4]", type: h100, address: "10.0.0.[11-14]"}
slurm: {version: "24.11"}
"""

OF_SMALL_MANIFESTS = ("gpus-share-ports", "time-without-upstream")
"""One port for eight GPUs, no time server."""


def changed(text: str, *edits: tuple[str, str]) -> str:
    """The text with some of its words replaced; each must be there."""
    for old, new in edits:
        assert old in text, f"{old!r} is not in the manifest"
        text = text.replace(old, new)
    return text


def diagnosed(text: str) -> list[Diagnostic]:
    """Every diagnostic, in file order.

    Without those that have tests of their own and that many small manifests are not about.
    """
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "manifest.yaml"
        path.write_text(text, encoding="utf-8")
        return [item for item in validate(path).diagnostics if item.code not in OF_SMALL_MANIFESTS]


def findings(text: str, diagnostics: list[Diagnostic] | None = None) -> list[tuple[str, str]]:
    """(code, what the caret stands under) of every diagnostic of a manifest, in file order."""
    lines = text.splitlines()
    if diagnostics is None:
        diagnostics = diagnosed(text)
        same_words(words(diagnostics))
    places = [item.place for item in diagnostics]
    assert all(place and place.line for place in places)
    return [
        (item.code, lines[place.line - 1][place.column - 1 : place.end_column - 1])
        for item, place in zip(diagnostics, places, strict=True)
        if place
    ]


def words(diagnostics: Iterable[Diagnostic]) -> str:
    """A line for each: severity, code, message and hint."""
    lines = [
        f"{one.severity} {one.code}: {one.message}" + (f" | {one.hint}" if one.hint else "") for one in diagnostics
    ]
    return "".join(f"{line}\n" for line in lines) or "nothing\n"


def judged(path: Path) -> list[Diagnostic]:
    """The diagnostics of a manifest, whose words are reviewed but for paths of directories and reasons of the system."""
    diagnostics = list(validate(path).diagnostics)
    text = re.sub(r"'[^'\n]*(?:pytest-|test_)[^'\n]*'", "DIRECTORY", words(diagnostics))
    same_words(re.sub(r"(cannot read [^:\n]*): [^|\n]*(?= \||\n)", r"\1", text))
    return diagnostics


def placed_words(diagnostics: Iterable[Diagnostic]) -> str:
    """The same with the line of each, 0 where it has none."""
    return "".join(f"{one.place.line if one.place else 0} {words([one])}" for one in diagnostics)


def report_words(report: Report) -> str:
    """All that a comparison of a fabric says: what it read, each group with its items and their lines, what is right."""
    lines = [placed_words(report.reading)]
    for group in report.groups:
        lines.append(f"{group.code}: {group.headline} | {group.hint}\n")
        lines += [f"  {item.line} {item.message}\n" for item in group.items]
    return "".join(lines) + "".join(f"{line}\n" for line in (*report.remarks, report.agreement))


def reviewed_findings(table: str, name: str, text: str) -> list[tuple[str, str]]:
    """`findings`; their words are those of the row in fixtures/reviewed/."""
    diagnostics = diagnosed(text)
    assert words(diagnostics) == expected(table)[name], "python -m strategies.reviewed writes the words"
    return findings(text, diagnostics)
