"""Effects of changed files: how much each harms running jobs, and the order in which a node carries them out."""

from __future__ import annotations

from functools import cache

from clustergen.catalogue.tables import table
from clustergen.records import record


@record
class EffectKind:
    """A row of effects.tsv, which its header explains."""

    kind: str
    order: int | None


@cache
def _kinds() -> tuple[EffectKind, ...]:
    return tuple(table("effects.tsv", EffectKind))


@cache
def severities() -> dict[str, int]:
    """Kind of effect → its severity; larger is worse for running jobs."""
    return {row.kind: place for place, row in enumerate(_kinds())}


@cache
def order_on_a_node() -> tuple[str, ...]:
    """The kinds that a node carries out by itself, each after those that it relies on."""
    places = {row.kind: row.order for row in _kinds() if row.order is not None}
    return tuple(sorted(places, key=lambda kind: places[kind]))
