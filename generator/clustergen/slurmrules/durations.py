"""`1:30`: 90 seconds to Slurm, and an hour and a half to many people."""

from __future__ import annotations

from clustergen.diagnostics.words import counted

CODE = "time-minutes-seconds"


def two_numbers(text: str) -> str:
    """Slurm's reading of a time of two numbers with a colon, and the reading that it is mistaken for."""
    first, _, second = text.partition(":")
    return (
        f"to Slurm {text} is minutes:seconds, {_length(first, 'minute', second, 'second')}, not"
        f" {_length(first, 'hour', second, 'minute')}"
    )


def _length(first: str, unit: str, second: str, smaller: str) -> str:
    parts = [(int(first), unit), (int(second), smaller)]
    stated = [counted(number, name) for number, name in parts if number]
    return " ".join(stated) or f"0 {unit}s"
