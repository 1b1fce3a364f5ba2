"""The view of a file in which nothing is filled in: it is there or it is not."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fixed:
    """No fields."""
