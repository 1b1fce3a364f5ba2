"""Decimal digits of any length as a number, without the time and the error that thousands of digits cost Python."""

from __future__ import annotations

_MOST_DIGITS = 40
LARGEST = 10**_MOST_DIGITS
"""The value of every number with more digits: larger than any limit of Slurm's."""


def whole(digits: str) -> int:
    """The number that decimal digits write, with or without a minus sign; beyond 40 digits ±LARGEST."""
    size = digits.lstrip("+-").lstrip("0")
    number = int(size or "0") if len(size) <= _MOST_DIGITS else LARGEST
    return -number if digits.startswith("-") else number
