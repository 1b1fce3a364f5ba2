"""Effects of changed files, by how much each harms running jobs, and the steps of a plan in their order."""

from __future__ import annotations

from functools import cache

from clustergen.catalogue.tables import keyed
from clustergen.records import record


@record
class StepKind:
    """A row of steps.tsv, which its header explains."""

    step: str
    play: str
    text: str
    before: str
    after: str
    undo: str


@record
class EffectKind:
    """A row of effects.tsv, which its header explains."""

    kind: str
    title: str
    reason: str
    action: str
    what: str


effect_kinds = keyed("effects.tsv", EffectKind, lambda row: row.kind)


@cache
def severities() -> dict[str, int]:
    """Kind of effect → its severity; larger is worse for running jobs."""
    return {kind: place for place, kind in enumerate(effect_kinds())}


step_kinds = keyed("steps.tsv", StepKind, lambda row: (row.play, row.step))
"""Play and step → its row, in the order of a run."""
