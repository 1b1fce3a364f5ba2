"""Figures that plans of racks, power and cooling start from, and estimates of training runs."""

from __future__ import annotations

from clustergen.catalogue.tables import NOTHING, keyed
from clustergen.records import record


@record
class Figure:
    """One figure with its unit."""

    key: str
    value: float
    unit: str
    note: str = ""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


figures = keyed("figures.tsv", Figure, lambda row: row.key)
"""All figures by key."""


def figure(key: str) -> float:
    """The figure of that key, in the unit of its row in figures.tsv; KeyError for an unknown key."""
    return figures()[key].value
