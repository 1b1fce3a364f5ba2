"""What several verbs share: options, and how diagnostics reach the user."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from clustergen.cluster.assumptions import assumptions
from clustergen.compile import Compiled
from clustergen.diagnostics import FORMATS, Diagnostic, Finding, exit_code, render, wants_colour
from clustergen.diagnostics.text import render_fewer

# What cannot be read is said by `load`, with exit code 3: click would call it a wrong use, 2.
_MANIFEST = click.Path(path_type=Path, readable=False)
manifest_argument = click.argument("manifest", type=_MANIFEST, metavar="MANIFEST")
manifest_arguments = click.argument("manifests", type=_MANIFEST, metavar="MANIFEST...", nargs=-1, required=True)


MOST_ALIKE = 200


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


def show(compiled: Compiled, diagnostics: Sequence[Diagnostic], form: str) -> int:
    """Diagnostics to stderr as text, to stdout in the formats that a program reads; the exit code that they ask for."""
    sources = {compiled.source.name: compiled.source.text}
    for place in {
        diagnostic.place.file for diagnostic in diagnostics if diagnostic.place and diagnostic.place.line
    } - set(sources):
        with suppress(OSError, UnicodeDecodeError):  # a site's own file; without its text the message still stands
            sources[place] = Path(place).read_text(encoding="utf-8")
    colour = form == "text" and wants_colour(sys.stderr)
    if form == "text":
        text = render_fewer(diagnostics, diagnostics, sources, MOST_ALIKE, colour=colour)
    else:
        text = render(diagnostics, form, sources)
    if text:
        click.echo(text, nl=False, err=form == "text", color=colour or None)
    return exit_code(diagnostics)
