"""What several verbs share: options, and how diagnostics reach the user."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from clustergen.compile import Compiled
from clustergen.diagnostics import FORMATS, Diagnostic, exit_code, render, wants_colour

manifest_argument = click.argument("manifest", type=click.Path(path_type=Path), metavar="MANIFEST")


def format_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        default="text",
        show_default=True,
        help="How findings are shown.",
    )(function)


def show(compiled: Compiled, diagnostics: Sequence[Diagnostic], form: str) -> int:
    """Diagnostics to stderr as text, to stdout in the formats that a program reads; the exit code that they ask for."""
    sources = {compiled.source.name: compiled.source.text}
    for place in {found.place.file for found in diagnostics if found.place and found.place.line} - set(sources):
        with suppress(OSError, UnicodeDecodeError):  # a site's own file; without its text the message still stands
            sources[place] = Path(place).read_text(encoding="utf-8")
    colour = form == "text" and wants_colour(sys.stderr)
    text = render(diagnostics, form, sources, colour=colour)
    if text:
        click.echo(text, nl=False, err=form == "text", color=colour or None)
    return exit_code(diagnostics)
