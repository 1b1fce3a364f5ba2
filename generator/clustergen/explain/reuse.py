"""The parts of a cluster that a trial leaves as they are: they are not made again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from clustergen.cluster.tracing import Part
from clustergen.explain.reads import ANYTHING, Fact, Reads, Token
from clustergen.manifest.base import Section
from clustergen.manifest.model import Manifest
from clustergen.records import fields

_PLAIN = frozenset((str, int, float, bool))


class Reuse:
    """Hands out the parts whose `reads` are what they were. `changed` are those that are not."""

    def __init__(self, reads: Reads, original: Manifest, manifest: Manifest, facts: Iterable[Fact]) -> None:
        self.reads = reads
        self.changed: set[Token] = {ANYTHING, *facts}
        self._compared: dict[tuple[int, int], tuple[bool, Any]] = {}  # with the new one, so that its id stays its own
        self._differ(original, manifest, None)

    def value(self, part: Part, make: Callable[[], Any], sources: Iterable[Part] = ()) -> Any:
        if self.keeps(part):
            return self.reads.values[part]
        value = make()
        if part in self.reads.of and not isinstance(part, tuple):
            before = self.reads.values[part]
            if not self._differ(before, value, part):
                return before
            if None in (before, value):
                self.changed.add("record_types")
        return value

    def used(self, part: Part) -> None:
        """Nothing is noted of a trial."""

    def keeps(self, part: Part) -> bool:
        return part in self.reads.of and self.reads.of[part].isdisjoint(self.changed)

    def _differ(self, old: Any, new: Any, holder: Token) -> bool:
        """True if two values differ; the fields that do so are added, or their holder where nothing smaller is."""
        kind = type(old)
        if kind is type(new):
            if kind in _PLAIN:
                if old == new:
                    return False
            elif isinstance(old, Section) or kind in self.reads.types:
                return self._fields_differ(old, new)
            elif isinstance(old, Mapping) and list(old) == list(new):
                return self._any_differ(old.values(), new.values(), holder)
            elif kind in (tuple, list) and len(old) == len(new):
                return self._any_differ(old, new, holder)
            elif old == new:
                return False
        self.changed.add(holder)
        return True

    def _any_differ(self, old: Iterable[Any], new: Iterable[Any], holder: Token) -> bool:
        unlike = [pair for pair in zip(old, new, strict=True) if pair[0] is not pair[1]]
        return any([self._differ(*pair, holder) for pair in unlike])  # noqa: C419 - all of them are noted

    def _fields_differ(self, old: Any, new: Any) -> bool:
        """The same for a pair of sections or records, which may be in several places."""
        pair = id(old), id(new)
        if pair not in self._compared:
            self._compared[pair] = self._compared_fields(old, new), new
        return self._compared[pair][0]

    def _compared_fields(self, old: Any, new: Any) -> bool:
        before, after = vars(old), vars(new)
        names = before if isinstance(old, Section) else fields(old)
        unlike = [name for name in names if before[name] is not after[name]]
        differing = [self._differ(before[name], after[name], (id(old), name)) for name in unlike]
        if isinstance(old, Section) and old.model_fields_set != new.model_fields_set:
            self.changed.add((id(old), "model_fields_set"))
            differing.append(True)
        if any(differing):
            self.changed.add((id(old), "__dict__"))
        return any(differing)
