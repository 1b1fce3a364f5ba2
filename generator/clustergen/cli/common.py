"""What several verbs share: options, and how diagnostics reach the user."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from clustergen.cli import output
from clustergen.cluster.assumptions import assumptions
from clustergen.compile import Compiled
from clustergen.diagnostics import FORMATS, Diagnostic, Finding, exit_code, render
from clustergen.diagnostics.suppressions import Suppressed
from clustergen.diagnostics.text import render_fewer

# What cannot be read is said by `load`, with exit code 3: click would call it a wrong use, 2.
_MANIFEST = click.Path(path_type=Path, readable=False)
manifest_argument = click.argument("manifest", type=_MANIFEST, metavar="MANIFEST")
manifest_arguments = click.argument("manifests", type=_MANIFEST, metavar="MANIFEST...", nargs=-1, required=True)


MOST_ALIKE = 200
UNREADABLE = 3


def completes_files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """For arguments that are no `click.Path`, as they may be something else too."""
    return [CompletionItem(incomplete, type="file")]


def format_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        default="text",
        show_default=True,
        help="How findings are shown.",
    )(function)


def assumed_by(compiled: Compiled) -> list[Diagnostic]:
    """Warnings of unconfirmed hardware and missing packages, which do not make a manifest invalid."""
    if not compiled.ok or compiled.cluster is None:
        return []
    findings = assumptions(compiled.cluster)
    return compiled.source.diagnose(Finding(one.code, one.path, one.message, one.hint, key=True) for one in findings)


def show(
    compiled: Compiled, diagnostics: Sequence[Diagnostic], form: str, suppressed: Sequence[Suppressed] = ()
) -> int:
    """Prints diagnostics; the exit code that they ask for.

    They go to stdout, but a manifest that cannot be read at all has no findings: that is said on stderr.
    """
    sources = _sources(compiled, diagnostics)
    if form == "text" and exit_code(diagnostics) == UNREADABLE:
        refuse(compiled, diagnostics)
    if form == "text":
        output.findings(_text(diagnostics, sources, colour=output.colour(sys.stdout)))
    else:
        output.findings(render(diagnostics, form, sources, suppressed=suppressed))
    return exit_code(diagnostics)


def refuse(compiled: Compiled, diagnostics: Sequence[Diagnostic]) -> NoReturn:
    """Ends a verb whose stdout is for something else than findings: they go to stderr, as any reason for a failure."""
    colour = output.colour(sys.stderr)
    click.echo(_text(diagnostics, _sources(compiled, diagnostics), colour=colour), nl=False, err=True, color=colour)
    sys.exit(exit_code(diagnostics))


def _sources(compiled: Compiled, diagnostics: Sequence[Diagnostic]) -> dict[str, str]:
    """The texts to quote from, by file name: the manifest's, and those of a site's own files."""
    sources = {compiled.source.name: compiled.source.text}
    for place in {
        diagnostic.place.file for diagnostic in diagnostics if diagnostic.place and diagnostic.place.line
    } - set(sources):
        with suppress(OSError, UnicodeDecodeError):  # without its text the message still stands
            sources[place] = Path(place).read_text(encoding="utf-8")
    return sources


def _text(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], *, colour: bool) -> str:
    return render_fewer(diagnostics, diagnostics, sources, MOST_ALIKE, colour=colour, summary=not output.is_quiet())
