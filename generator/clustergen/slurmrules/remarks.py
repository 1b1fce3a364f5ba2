"""Remarks of a check on one key or value, without a place in a file."""

from __future__ import annotations

from enum import StrEnum

from clustergen.records import record


class Outcome(StrEnum):
    """Slurm's reaction to it."""

    STOPS = "stops"
    """A daemon or a command does not start."""
    LOGS = "logs"
    """It starts, and complains in its log."""
    SILENT = "silent"
    """It goes on without a word, otherwise than was meant."""
    ADVICE = "advice"
    """It does what was meant; there is a better way."""


@record
class Remark:
    """`at` is (offset, length) in characters inside the value; `on_key` points at the key instead.

    `instead` is the text that can safely take the place of the value, or of the key where `on_key`; None where a person
    has to decide. `by_form`: the parser takes the text; it is found where it is used. `between`: keys of which one has
    to go.
    """

    code: str
    message: str
    hint: str | None = None
    outcome: Outcome = Outcome.STOPS
    at: tuple[int, int] | None = None
    on_key: bool = False
    instead: str | None = None
    by_form: bool = False
    between: tuple[str, ...] = ()
