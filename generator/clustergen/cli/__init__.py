"""The command line: finds the module of a verb, and begins and ends the process; what a verb does is in its module."""

from __future__ import annotations

import atexit
import gc
import importlib
import keyword
import os
import signal
import sys
from contextlib import suppress
from errno import ENOSPC
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from clustergen import __version__, child_process
from clustergen.cli.output import add_options, options
from clustergen.diagnostics import ClustergenError
from clustergen.diagnostics.words import forget_guesses
from clustergen.feature import ExtensionError, at_fault, failure, loaded
from clustergen.regular_file import reason_of

# What else is installed beside us has no say in how a manifest is read; looking for it also takes time.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

_VERBS = (
    "init", "validate", "resolve", "render", "diff", "plan", "apply", "verify", "lint", "import", "adopt", "lab",
    "setup", "explain", "discover", "drift", "catalogue", "schema", "features", "fabric", "facility", "completion",
)  # fmt: skip
"""In the order of the help. A verb is a module of its name, whose docstring is its summary there."""
_MAINTAINERS_VERBS = ("proof",)


def _module(verb: str) -> str:
    return f"{verb}_" if keyword.iskeyword(verb) else verb


def _summary(verb: str) -> str:
    """The docstring of a verb's module, which is not loaded for it."""
    with Path(__file__).with_name(f"{_module(verb)}.py").open(encoding="utf-8") as source:
        return source.readline().strip().strip('"')


_INTERRUPTED, _NOBODY_READS = 130, 141  # what a shell says of a program that SIGINT or SIGPIPE ended


class Verbs(click.Group):
    """Loads a verb's module when the verb is used; ends without a traceback on Ctrl-C and on a closed pipe."""

    def invoke(self, ctx: click.Context) -> Any:
        forget_guesses()
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)  # a second one would end the ending
            with suppress(OSError):
                click.echo("clustergen: interrupted", err=True)
            sys.exit(_INTERRUPTED)
        except BrokenPipeError:
            _write_no_more(1, 2)
            sys.exit(_NOBODY_READS)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Verbs with their summaries, without loading each verb's module."""
        verbs = [CompletionItem(name, help=_summary(name)) for name in _VERBS if name.startswith(incomplete)]
        return verbs + click.Command.shell_complete(self, ctx, incomplete)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _VERBS and name not in _MAINTAINERS_VERBS:
            return None
        command: click.Command = importlib.import_module(f"clustergen.cli.{_module(name)}").command
        add_options(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _summary(name)) for name in _VERBS])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from clustergen.diagnostics import suggest

        name = args[0] if args else ""
        if name and name not in (*_VERBS, *_MAINTAINERS_VERBS) and not name.startswith("-"):
            similar = suggest(name, _VERBS)
            ctx.fail(f"No such command '{name}'." + (f" Did you mean '{similar}'?" if similar else ""))
        return super().resolve_command(ctx, args)


@click.command(
    cls=Verbs, params=options(), context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, prog_name="clustergen")
def group() -> None:
    """Compile one manifest into every configuration file of a GPU cluster.

    Exit codes: 0 fine, 1 differences or findings, 2 the manifest is invalid, 3 the environment failed.
    """


def _write_no_more(*streams: int) -> None:
    """Keep Python from writing once more at its end what could not be written."""
    for stream in streams:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


def _say(text: str) -> None:
    """The last words; where nobody can hear them, the exit code alone tells."""
    try:
        click.echo(text, err=True)
    except OSError:
        _write_no_more(2)


def _collect_rarely() -> None:
    """Sets the garbage collector for processes of a second or two, which leave few reference cycles behind."""
    gc.set_threshold(100_000, 20, 100)
    atexit.register(gc.freeze)  # Python's last collection then has nothing to visit


def main(arguments: list[str] | None = None) -> Any:
    """Entry point of the `clustergen` command."""
    _collect_rarely()
    child_process.end_with_us()
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:  # closed: what is opened next would get its number, and be written into
            _write_no_more(number)
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", closefd=False))
        elif isinstance(stream := getattr(sys, name), TextIOWrapper):  # not every terminal has all characters
            stream.reconfigure(errors="backslashreplace")
    try:
        return group(arguments, prog_name="clustergen", standalone_mode=True)
    except ClustergenError as err:
        _say(f"clustergen: {err.message}" + (f"\n   hint: {err.hint}" if err.hint else ""))
        sys.exit(_INTERRUPTED if isinstance(err.__context__, KeyboardInterrupt) else err.exit_code)
    except (Exception, SystemExit) as err:  # an extension that ends the process has not done what was asked
        if not isinstance(err, ExtensionError) and (extension := at_fault(err.__traceback__)):
            err = failure(extension, err)
        if isinstance(err, ExtensionError):
            _say(f"clustergen: {err.message}\n   hint: {err.hint}")
            sys.exit(3)
        if isinstance(err, Exception) and not isinstance(err, OSError) and (names := loaded()):
            from traceback import format_exception

            from clustergen import log

            log.info(__name__, "%s", "".join(format_exception(err)))
            _say(
                f"clustergen: {type(err).__name__}: {err}, with the extension {' and '.join(map(str, names))}\n"
                "   hint: run with --no-extensions; if that works, update or remove it; -v shows the traceback"
            )
            sys.exit(3)
        if not isinstance(err, OSError):
            raise
        # a file that may not be read, a full disk
        where = f"{err.filename}: " if err.filename else "cannot write: " if err.errno == ENOSPC else ""
        _say(f"clustergen: {where}{reason_of(err)}")
        _write_no_more(1)
        sys.exit(3)


__all__ = ["group", "main"]
