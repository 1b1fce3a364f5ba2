"""Effects of replacing packages that a node runs."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache

from clustergen.catalogue.tables import table
from clustergen.records import record


@record
class PackageEffect:
    """A row of package_effects.tsv, which its header explains."""

    family: str
    purpose: str
    in_use: str
    replaces: bool
    effect: str
    """By the words of `render.effects`."""
    source: str
    note: str


@cache
def _rows() -> tuple[PackageEffect, ...]:
    return tuple(table("package_effects.tsv", PackageEffect))


@cache
def of_purpose(purpose: str) -> PackageEffect | None:
    """The row of a purpose; None where its packages are installed beside running jobs."""
    return next((row for row in _rows() if fnmatchcase(purpose, row.purpose)), None)
