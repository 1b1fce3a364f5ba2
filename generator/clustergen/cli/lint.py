"""Lint an existing slurm.conf and related files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clustergen.cli import output
from clustergen.cli.arguments import STDIN, optional_slurm_argument, standard_input
from clustergen.cli.common import format_option
from clustergen.cli.complete import rows
from clustergen.cli.exit_codes import FILTERED, USAGE, exit_codes
from clustergen.cli.filters import Filters, Judged, filter_options, statistics
from clustergen.diagnostics import FORMATS, Diagnostic, Severity, printable, render

if TYPE_CHECKING:
    from clustergen.lint.run import Report

_UNREADABLE = "file-unreadable"


@exit_codes(f"no errors or warnings{FILTERED}", "errors or warnings", USAGE, "PATH cannot be read")
@click.command("lint")
@optional_slurm_argument
@click.option(
    "--slurm-version",
    metavar="V",
    shell_complete=rows("slurm"),
    help="Slurm release, e.g. 24.11; default: detected from the keys.",
)
@click.option("--fix", "fixing", is_flag=True, help="Fix findings that have one safe correction.")
@click.option("--diff", "differing", is_flag=True, help="Show what --fix would change, and write nothing.")
@click.option("--register", is_flag=True, help="Let a node of each NodeName line register with a real slurmctld.")
@format_option(*FORMATS)
@filter_options
def command(
    path: Path, slurm_version: str | None, fixing: bool, differing: bool, register: bool, form: str, **filtering: Any
) -> None:
    """Lint PATH: a directory with slurm.conf and related files, or a slurm.conf.

    By default it is the current directory; - is a slurm.conf on standard input.

    An error stops a daemon or command of that release. A warning is something that Slurm only logs, or accepts but
    does not do as intended. An info is advice.

    --register starts the daemons of that release from clustergen setup parsers in a sandbox, on the hardware that the
    files claim, and reports nodes that slurmctld refuses, with its reason.

    With a newer --slurm-version, lint reports what will be fatal after an upgrade. Files outside the directory are not
    read, not even through links.
    """
    from clustergen.lint import merge
    from clustergen.lint.fix import diff, edits, fix_all
    from clustergen.lint.release import named
    from clustergen.lint.run import lint, lint_text
    from clustergen.slurmconf.reading import MOST_BYTES

    try:
        release = named(slurm_version) if slurm_version else None
    except ValueError as err:
        raise click.BadParameter(str(err), param_hint="--slurm-version") from None
    if differing and form != "text":
        raise click.UsageError("--diff requires --format text")
    filters = Filters.of(form, **filtering)
    if path == STDIN and (fixing or differing or register):
        raise click.UsageError("--fix, --diff and --register go with a file, not with standard input")
    report = lint_text(standard_input(MOST_BYTES), "stdin", release) if path == STDIN else lint(path, release)
    made = 0
    if fixing and not differing:
        report, made = fix_all(path, release, report, lambda another: _judged(another, filters).reported)
    report, asked = _registered(report) if register else (report, ())
    judged = _judged(report, filters)
    diagnostics = judged.reported
    if differing:
        for chunk in diff(edits(report, diagnostics)):
            click.echo(chunk, nl=False)
    unreadable = any(diagnostic.code == _UNREADABLE for diagnostic in diagnostics)
    if filters.statistics:
        output.findings(statistics(diagnostics))
    elif form != "text":
        output.findings(render(diagnostics, form, suppressed=judged.suppressed))
    elif not differing:
        stream = sys.stderr if unreadable else sys.stdout
        colour, summary = output.colour(stream), not output.is_quiet()
        text = merge.text(diagnostics, report.sources, colour=colour, summary=summary)
        click.echo(text, stream, nl=False, color=colour)
        if not diagnostics:
            output.verdict(printable(f"{report.path}: no findings."))
    if form == "text":
        for line in (*_remarks(report, judged, made), *asked):
            output.remark(printable(line))
    if unreadable:
        sys.exit(3)
    sys.exit(0 if filters.exit_zero or all(one.severity is Severity.INFO for one in diagnostics) else 1)


def _registered(report: Report) -> tuple[Report, tuple[str, ...]]:
    from clustergen.lint.registration import registered

    return registered(report)


def _judged(report: Report, filters: Filters) -> Judged:
    """The findings that are reported; comments suppress errors too, as the files are the user's, not ours to write."""
    complete = all(one.code != _UNREADABLE for one in report.diagnostics)
    from clustergen.diagnostics.suppressions import apply

    kept, suppressed = apply(
        report.diagnostics,
        report.sources,
        may_suppress=_may_suppress,
        is_continued=lambda file: not file.endswith((".yaml", ".yml")),
        report_unused=complete,
    )
    return filters.judge(kept, suppressed, _may_suppress)


def _may_suppress(diagnostic: Diagnostic) -> bool:
    return diagnostic.code != _UNREADABLE


def _remarks(report: Report, judged: Judged, made: int) -> Iterator[str]:
    """Remarks on the files that were read and their kinds, on findings that were not reported, and on the work of
    --fix.
    """
    from clustergen.lint.release import others

    if made:
        yield f"{made} fixed."
    reported = set(judged.reported)
    if fixable := sum(1 for finding in report.findings if finding.fix is not None and finding.diagnostic in reported):
        yield f"{fixable} fixable with --fix; --diff shows the changes."
    read = ", ".join(report.read) or report.path.name
    guessed = f", {report.guessed.why}; change it with --slurm-version" if report.guessed else ""
    yield f"{read}: read as Slurm {report.release}{guessed}."
    if report.guessed and not report.guessed.named and (unread := others(report.directory, report.release)):
        yield f"Other releases do not read all of it: {unread}."
    yield from judged.remarks()
    if report.unread and report.path.is_dir():
        yield f"not checked: {', '.join(report.unread)}."
