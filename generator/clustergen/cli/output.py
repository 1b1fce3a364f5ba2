"""Where output goes, in every verb: findings and data to stdout, remarks and progress to stderr.

The line that sums up findings (`verdict`) goes with them. What was written, changed or started, and what to do next, is
a remark. In a format for programs, stdout has the document and nothing else.

`add_options` gives each verb -q, -v, --color and --no-extensions. What they were set to is kept in click's context, so
that a verb asks `is_quiet()` and `colour()` and needs no parameter of its own.
"""

from __future__ import annotations

import shutil
import sys
from typing import TextIO

import click

from clustergen.diagnostics import wants_colour

_MUTED = "clustergen.quiet"
_VERBOSE_HELP = "Log each step to stderr, with the time since the start; -vv logs single files and programs."
_COLOURS = {"auto": None, "always": True, "never": False}


def add_options(command: click.Command) -> None:
    """Gives a verb, and the verbs below it, the options of all verbs; one that has its own -v keeps that too."""
    if isinstance(command, click.Group):
        for below in command.commands.values():
            add_options(below)
        return
    names = {parameter.name for parameter in command.params}
    if "quiet" not in names:
        command.params += options("verbose" in names)
        for parameter in command.params:
            if parameter.name == "verbose":
                parameter.callback = _enable_log


def options(has_verbose: bool = False) -> list[click.Parameter]:
    """The options themselves; without -v for a verb that has it."""
    mute = click.Option(
        ["-q", "--quiet"], is_flag=True, expose_value=False, callback=_set_quiet,
        help="Print findings and data only: no summary, no remarks.",
    )  # fmt: skip
    verbose = click.Option(
        ["-v", "--verbose"], count=True, expose_value=False, callback=_enable_log, help=_VERBOSE_HELP
    )
    color = click.Option(
        ["--color", "color"], type=click.Choice(tuple(_COLOURS)), expose_value=False, callback=_set_color,
        help="When to colour; default: auto, on a terminal. NO_COLOR and CLICOLOR_FORCE are honoured.",
    )  # fmt: skip
    bare = click.Option(
        ["--no-extensions"], is_flag=True, expose_value=False, is_eager=True, callback=_ignore_extensions,
        help="Ignore features of other packages (clustergen features lists them).",
    )  # fmt: skip
    return [mute, color, bare] if has_verbose else [mute, verbose, color, bare]


def _set_quiet(ctx: click.Context, _: click.Parameter, is_set: bool) -> bool:
    if is_set:
        ctx.meta[_MUTED] = True
    return is_set


def _set_color(ctx: click.Context, _: click.Parameter, choice: str | None) -> str | None:
    if choice:
        ctx.color = _COLOURS[choice]
    return choice


def _enable_log(ctx: click.Context, _: click.Parameter, verbosity: int) -> int:
    from clustergen import log

    if verbosity or ctx.parent is None:  # a verb without -v leaves `clustergen -v VERB` as it is
        log.enable(verbosity)
    return verbosity


def _ignore_extensions(_: click.Context, __: click.Parameter, is_set: bool) -> bool:
    if is_set:
        from clustergen.feature import ignore_extensions

        ignore_extensions()
    return is_set


def is_quiet() -> bool:
    """True if -q was given."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(_MUTED))


def colour(stream: TextIO) -> bool:
    """True if output to this stream is coloured: by --color, else by the environment, else if it is a terminal."""
    ctx = click.get_current_context(silent=True)
    return wants_colour(stream) if ctx is None or ctx.color is None else ctx.color


def width() -> int:
    """The columns of the terminal; 80 where stdout is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 80


def findings(text: str) -> None:
    """Prints findings or data, with their line ends, to stdout."""
    if text:
        click.echo(text, nl=False, color=colour(sys.stdout))


def verdict(line: str) -> None:
    """Prints the line that sums up a verb's findings to stdout; nothing with -q."""
    if not is_quiet():
        click.echo(line)


def remark(line: str) -> None:
    """Prints a remark or a sign of progress to stderr; nothing with -q."""
    if not is_quiet():
        click.echo(line, err=True)
