"""The exit codes of a verb, which end its help.

In all of them, 0 is fine, 1 differences or findings, 2 an invalid manifest or a wrong use, and 3 a failure of the
environment.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TypeVar

import click

Verb = TypeVar("Verb", bound=click.Command)
_WIDTH = 76  # as click folds a help text, which leaves this part of it alone
USAGE = "the options or arguments are wrong"
INVALID = "MANIFEST is invalid, or the usage is wrong"
UNREADABLE = "MANIFEST cannot be read"
FILTERED = "; with --exit-zero, any findings"


def exit_codes(*meanings: str) -> Callable[[Verb], Verb]:
    """Ends the help of a verb with what its exit codes 0, 1, 2 and 3 mean; an empty text leaves a code out."""

    def add(verb: Verb) -> Verb:
        lines = [_line(code, meaning) for code, meaning in enumerate(meanings) if meaning]
        verb.epilog = "\n".join(["\b", "Exit codes:", *lines])
        return verb

    return add


def _line(code: int, meaning: str) -> str:
    return textwrap.fill(meaning, _WIDTH, initial_indent=f"  {code}  ", subsequent_indent=" " * 5)
