"""`clustergen lint PATH`: findings in hand-written files of Slurm's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clustergen.cli.common import format_option
from clustergen.diagnostics import Severity, printable, render, wants_colour

if TYPE_CHECKING:
    from clustergen.lint.run import Report


@click.command("lint")
@click.argument("path", type=click.Path(path_type=Path, readable=False), metavar="PATH")
@click.option("--slurm-version", metavar="V", help="The release that will read the files, as 24.11; guessed without.")
@click.option("--fix", "fixing", is_flag=True, help="Put right what has one safe answer.")
@click.option("--diff", "differing", is_flag=True, help="Show what --fix changes; alone, nothing is written.")
@format_option
def command(path: Path, slurm_version: str | None, fixing: bool, differing: bool, form: str) -> None:
    """Say what is wrong with PATH: a folder with slurm.conf and its kin, or a slurm.conf.

    An error is what a daemon or a command of that release stops on. A warning is what Slurm only says in its log, or
    takes in silence and does otherwise than was meant. A note is advice.

    With a newer --slurm-version it lists what will be fatal after an upgrade. Nothing outside the
    directory is read, and no link is followed out of it.

    Exit codes: 0 no findings but notes, 1 findings, 3 PATH cannot be read.
    """
    from clustergen.lint import merge
    from clustergen.lint.fix import diff, edits, fix_all
    from clustergen.lint.release import named
    from clustergen.lint.run import lint

    try:
        release = named(slurm_version) if slurm_version else None
    except ValueError as err:
        raise click.BadParameter(str(err), param_hint="--slurm-version") from None
    if differing and form != "text":
        raise click.UsageError("--diff goes with --format text")
    report = lint(path, release)
    if differing:
        for chunk in diff(edits(report)):
            click.echo(chunk, nl=False)
    made = 0
    if fixing:
        report, made = fix_all(path, release, report)
    if form == "text":
        colour = wants_colour(sys.stderr)
        click.echo(
            merge.text(report.diagnostics, report.sources, colour=colour), nl=False, err=True, color=colour or None
        )
        for line in _summary(report, made):
            click.echo(printable(line), err=True)
    else:
        click.echo(render(report.diagnostics, form), nl=False)
    broken = any(diagnostic.code == "file-unreadable" for diagnostic in report.diagnostics)
    bad = any(diagnostic.severity is not Severity.INFO for diagnostic in report.diagnostics)
    sys.exit(3 if broken else 1 if bad else 0)


def _summary(report: Report, made: int) -> Iterator[str]:
    """What was read and as what, and what --fix did or would do."""
    if not report.findings:
        yield f"{report.path}: no findings."
    if made:
        yield f"{made} put right."
    if fixable := sum(1 for finding in report.findings if finding.fix is not None):
        yield f"--fix puts {fixable} of them right, --diff shows how."
    read = ", ".join(report.read) or report.path.name
    guessed = ", the newest release that reads the most of it; --slurm-version names another" if report.guessed else ""
    yield f"{read}: read as Slurm {report.release}{guessed}."
    if report.unread:
        yield f"not looked at: {', '.join(report.unread)}."
