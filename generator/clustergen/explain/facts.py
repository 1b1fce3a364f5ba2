"""Which facts of the catalogue have a say in a line: those that make it another one when they are others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clustergen.explain.halving import in_rounds
from clustergen.explain.reads import Fact, Override, overriding
from clustergen.explain.rows import other_facts
from clustergen.explain.trials import Trials, changed_of


class Facts:
    """The facts that were read: those of the trials' `meaning` make the cluster, others what is printed of it."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        reads = trials.reads
        # Facts of a row are neighbours, and rows that were read together: what one line needs lies together.
        places = {ident: number for number, ident in enumerate(reads.rows)}
        kinds = {ident: type(row).__name__ for ident, row in reads.rows.items()}
        ordered = sorted(reads.facts(), key=lambda fact: (kinds[fact[0]], places[fact[0]], fact[1]))
        alike: dict[type[Any], list[Any]] = {}
        for row in reads.rows.values():
            alike.setdefault(type(row), []).append(row)
        self._choices: dict[Fact, list[Override]] = {}
        for fact in ordered:
            row = reads.rows[fact[0]]
            self._choices[fact] = [{fact: value} for value in other_facts(row, fact[1], alike[type(row)])]

    def behind(self, old: Sequence[str], asked: Sequence[int]) -> dict[int, dict[int, set[str]]]:
        """Line → row, by its `id()` → fields, of the lines `asked` for."""
        hits: dict[Fact, list[int]] = {}

        def has_effect(batch: Sequence[tuple[Fact, Override]]) -> bool | None:
            new = self._lines({fact: value for _, override in batch for fact, value in override.items()})
            if new is None:
                return None
            indexes = changed_of(old, new, asked)
            if indexes and len(batch) == 1:
                hits[batch[0][0]] = indexes
            return bool(indexes)

        in_rounds(self._choices, self._has_meaning, has_effect)
        rows: dict[int, dict[int, set[str]]] = {}
        for ident, name in self._choices:
            for index in hits.get((ident, name), ()):
                rows.setdefault(index, {}).setdefault(ident, set()).add(name)
        return rows

    def _has_meaning(self, override: Override) -> bool:
        return not self._trials.meaning.isdisjoint(override)

    def _lines(self, override: Override) -> tuple[str, ...] | None:
        """The file by other facts; None where there is none then."""
        with overriding(override):
            made = self._trials.make(facts=override)
        return None if made is None else made.lines
