"""Drift as text, JSON and Markdown: first what to do first, then each finding with its next step and cause."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import click

from clustergen.cli import output
from clustergen.diagnostics import printable
from clustergen.diagnostics.document import json_document
from clustergen.diagnostics.words import counted, listed
from clustergen.hardware.drift.kinds import SEVERITIES
from clustergen.hardware.drift.model import DriftFinding, DriftReport
from clustergen.records import replace

_MOST_LINES, _MOST_SUBJECTS = 300, 12
_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan"}


def show(report: DriftReport, form: str) -> None:
    """Prints a report to stdout in one of the formats of `clustergen drift`."""
    if form == "json":
        output.findings(_json(report))
    elif form == "markdown":
        output.findings(_markdown(report))
    else:
        output.verdict(printable(headline(report)))
        output.findings("".join(f"{line}\n" for line in _lines(report, colour=output.colour(sys.stdout))))


def headline(report: DriftReport) -> str:
    """One line that is enough at night: how bad it is, and the first step."""
    if not report.findings:
        return f"no drift: {report.compared:,} of {counted(report.total, 'node')} compared with {report.manifest}."
    counts = ", ".join(
        counted(count, name) if name != "info" else f"{count} info" for name, count in report.counts().items() if count
    )
    first = report.findings[0]
    step = first.step.partition("  # ")[0]
    drifting = f"{report.affected:,} of {counted(report.total, 'node')} {'differs' if report.total == 1 else 'differ'}"
    more = f", and {counted(report.unplanned, 'machine')} not in it" if report.unplanned else ""
    return f"{drifting} from {report.manifest}{more}: {counts}. First {first.hosts} ({first.kind}): {step}"


def _rows(findings: Sequence[DriftFinding]) -> list[DriftFinding]:
    """Findings that differ in their subject only as one: four GPUs of a node, twenty files of all nodes."""
    subjects: dict[DriftFinding, list[str]] = {}
    for finding in findings:
        subjects.setdefault(replace(finding, subject=""), []).append(finding.subject)
    return [replace(finding, subject=_joined(names)) for finding, names in subjects.items()]


def _joined(subjects: Sequence[str]) -> str:
    """`port mlx5_0, mlx5_1` for `port mlx5_0` and `port mlx5_1`."""
    heads = {subject.rpartition(" ")[0] for subject in subjects}
    if len(heads) == 1 and "" not in heads:
        (head,) = heads
        subjects = [subjects[0], *(subject[len(head) + 1 :] for subject in subjects[1:])]
    return listed(subjects, _MOST_SUBJECTS)


def _lines(report: DriftReport, *, colour: bool) -> Iterator[str]:
    rows = _rows(report.findings)
    for finding in rows[:_MOST_LINES]:
        label = f"{finding.severity}[{finding.kind}]"
        if colour:
            label = click.style(label, fg=_COLOURS[finding.severity], bold=True)
        yield f"{label} {finding.hosts}: {printable(finding.message)}"
        yield f"   next:  {finding.step}"
        yield f"   cause: {finding.info.cause}"
    if len(rows) > _MOST_LINES:
        yield f"… and {len(rows) - _MOST_LINES:,} more; --format json shows them all"


def _json(report: DriftReport) -> str:
    fields = {
        "manifest": report.manifest,
        "nodes": {"total": report.total, "compared": report.compared, "affected": report.affected},
        "counts": report.counts(),
        "findings": [_data(finding) for finding in report.findings],
        "remarks": list(report.remarks),
    }
    return json_document(fields)


def _data(finding: DriftFinding) -> dict[str, object]:
    return {
        "kind": finding.kind,
        "topic": finding.info.topic,
        "severity": finding.severity,
        "hosts": finding.hosts,
        "nodes": list(finding.nodes),
        "subject": finding.subject,
        "actual": finding.actual,
        "expected": finding.expected or None,
        "cause": finding.info.cause,
        "next": finding.step,
    }


def _markdown(report: DriftReport) -> str:
    from clustergen.diagnostics.words import shortened
    from clustergen.diff.markdown import code, plain, within_comment

    def cell(text: str) -> str:
        return plain(shortened(printable(text))).replace("|", "\\|")

    def step(text: str) -> str:
        command, mark, remark = text.partition("  # ")
        shown = code(shortened(printable(command))).replace("|", "\\|")
        return f"{shown} {cell(remark)}".strip() if mark or command.startswith("ansible") else cell(command)

    lines = [f"**Drift: {cell(headline(report))}**"]
    for severity in SEVERITIES:
        findings = [one for one in _rows(report.findings) if one.severity == severity]
        if findings:
            lines += ["", f"#### {severity}", "", "| nodes | what | next step |", "|---|---|---|"]
            lines += [
                f"| {cell(one.hosts)} | {code(one.kind)} {cell(one.message)} | {step(one.step)} |" for one in findings
            ]
    lines += [f"\n{cell(remark)}" for remark in report.remarks]
    text = within_comment("\n".join(lines), "clustergen drift")
    return f"{text}\n"
