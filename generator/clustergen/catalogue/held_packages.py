"""Packages that belong together, by patterns of their names: what breaks jobs or mounts if it is replaced alone."""

from __future__ import annotations

from collections.abc import Iterable

from clustergen.catalogue.tables import table
from clustergen.records import record


@record
class HeldPackages:
    """A row of held_packages.tsv, which its header explains."""

    hold: str
    family: str
    patterns: tuple[str, ...]
    note: str
    source: str


def patterns(holds: Iterable[str], family: str) -> tuple[str, ...]:
    """Of all these on systems of a family."""
    rows = [row for row in table("held_packages.tsv", HeldPackages) if row.family == family]
    return tuple(pattern for hold in holds for row in rows if row.hold == hold for pattern in row.patterns)
