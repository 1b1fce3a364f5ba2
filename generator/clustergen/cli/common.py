"""Code that several verbs share: options, and the printing of diagnostics."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from clustergen.cli import output
from clustergen.cli.arguments import STDIN, standard_input
from clustergen.diagnostics import Diagnostic, Finding, Severity, exit_code, render
from clustergen.diagnostics.redaction import redacted
from clustergen.diagnostics.suppressions import Suppressed
from clustergen.diagnostics.text import render_fewer

if TYPE_CHECKING:
    from clustergen.compile import Compiled

MOST_ALIKE = 200
UNREADABLE = 3


def format_option(*forms: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--format`, by default the first of these forms."""
    choice = click.Choice(forms)
    return click.option("--format", "form", type=choice, default=forms[0], show_default=True, help="Output format.")


def assumed_by(compiled: Compiled) -> list[Diagnostic]:
    """Warnings of unconfirmed hardware and missing packages, which do not make a manifest invalid.

    Beside errors only the hardware, which takes a look at a node, of node types without one: others may follow from
    what is wrong.
    """
    from clustergen.cluster.assumptions import assumptions

    cluster, source = compiled.cluster or compiled.meant, compiled.source
    if cluster is None:
        return []
    wrong = {one.place.line for one in compiled.diagnostics if one.severity is Severity.ERROR and one.place}
    findings = (
        one
        for one in assumptions(cluster)
        if compiled.ok or (one.code == "hardware-unconfirmed" and wrong.isdisjoint(source.lines_of(one.path)))
    )
    return source.diagnose(Finding(one.code, one.path, one.message, one.hint, key=True) for one in findings)


def compiled_from(manifest: Path) -> Compiled:
    """The manifest of a file, or of standard input."""
    from clustergen.compile import validate
    from clustergen.manifest.source import MAX_BYTES

    if manifest == STDIN:
        return validate(manifest, "stdin", standard_input(MAX_BYTES))
    return validate(manifest)


def valid(manifest: Path) -> Compiled:
    """A valid manifest; the verb ends with the findings of one that is not."""
    compiled = compiled_from(manifest)
    if not compiled.ok:
        refuse(compiled, compiled.diagnostics)
    return compiled


def show(
    compiled: Sequence[Compiled], diagnostics: Sequence[Diagnostic], form: str, suppressed: Sequence[Suppressed] = ()
) -> int:
    """Prints diagnostics; the exit code that they ask for.

    They go to stdout, but a manifest that cannot be read at all has no findings: that is said on stderr.
    """
    if form == "text":
        readable = [one for one in diagnostics if exit_code([one]) != UNREADABLE]
        unreadable = [one for one in diagnostics if exit_code([one]) == UNREADABLE]
        complain(compiled, unreadable, () if readable else unreadable)
        if readable:  # one summary, of all
            output.findings(
                _text(readable, diagnostics, _sources(compiled, readable), colour=output.colour(sys.stdout))
            )
        for one in compiled:
            if one.is_partial:
                output.remark(f"{one.source.name}: more checks run once these errors are corrected.")
    else:
        output.findings(render(diagnostics, form, suppressed=suppressed))
    return exit_code(diagnostics)


def refuse(compiled: Compiled, diagnostics: Sequence[Diagnostic]) -> NoReturn:
    """Ends a verb whose stdout is for something else than findings: they go to stderr, as any reason for a failure."""
    complain([compiled], diagnostics, diagnostics)
    sys.exit(exit_code(diagnostics))


def complain(compiled: Sequence[Compiled], shown: Sequence[Diagnostic], counted: Sequence[Diagnostic]) -> None:
    """Prints diagnostics to stderr; the summary counts `counted`."""
    colour = output.colour(sys.stderr)
    click.echo(_text(shown, counted, _sources(compiled, shown), colour=colour), nl=False, err=True, color=colour)


def _sources(compiled: Sequence[Compiled], diagnostics: Sequence[Diagnostic]) -> dict[str, str]:
    """The texts to quote from, by file name: the manifests', and those of a site's own files."""
    sources = {name: text for one in compiled for name, text in one.source.texts.items()}
    for place in {
        diagnostic.place.file for diagnostic in diagnostics if diagnostic.place and diagnostic.place.line
    } - set(sources):
        with suppress(OSError, UnicodeDecodeError):  # without its text the message still stands
            sources[place] = redacted(Path(place).read_text(encoding="utf-8"))
    return sources


def _text(
    shown: Sequence[Diagnostic], counted: Sequence[Diagnostic], sources: Mapping[str, str], *, colour: bool
) -> str:
    return render_fewer(shown, counted, sources, MOST_ALIKE, colour=colour, summary=not output.is_quiet())
