"""Changes that differ in nothing but their values and whom they are about: hundreds of them are one line to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from clustergen.catalogue.slurm_meanings import meaning
from clustergen.diff.change import KINDS, Change, folded
from clustergen.diff.manifest_changes import ManifestChange
from clustergen.diff.messages import reason
from clustergen.diff.plan import Plan
from clustergen.diff.values import canonical
from clustergen.records import record
from clustergen.slurmconf.scalars import hosts_of

FEW = 5
"""So many of a family are shown each for itself; of more, the first of them and what they have in common."""
FIRST = 3

_BLOCKS = {kind: block for block, kind in KINDS.items()} | {"gres": "NodeName"}
_LISTED = 2  # different values that are named; of more, the least and the greatest


@record
class Family:
    """At least one change; `shown` and `more` are separate where there are many."""

    changes: tuple[Change, ...]

    @property
    def first(self) -> Change:
        return self.changes[0]

    @property
    def large(self) -> bool:
        return len(self.changes) > FEW

    @property
    def directory(self) -> str:
        """The directory of several files that come, go or change alike; else empty."""
        files = {change.file for change in self.changes}
        return _directory(self.first) if self.large and self.first.kind == "file" and len(files) > 1 else ""

    @property
    def shown(self) -> tuple[Change, ...]:
        return self.changes[:FIRST] if self.large else self.changes

    @property
    def more(self) -> tuple[Change, ...]:
        return self.changes[FIRST:] if self.large else ()

    @property
    def what(self) -> str:
        """`300 × node Weight`, `40 × partition, gone`, `28 removed files in /srv/jobs`."""
        change = self.first
        if self.directory:
            word = {"+": "new ", "-": "removed "}.get(change.sign, "")
            return f"{len({each.file for each in self.changes}):,} {word}files in {self.directory}"
        name = change.name if change.kind == "gres" else ""
        words = [change.file, change.key] if change.is_beside_slurm else [change.kind, name, change.key]
        came_or_went = ", new" if change.old is None else ", gone" if change.new is None else ""
        return f"{len(self.changes):,} × {' '.join(filter(None, words))}{came_or_went if self._whole else ''}"

    @property
    def _whole(self) -> bool:
        return not self.first.key and self.first.kind != "file"

    @cached_property
    def old(self) -> str | None:
        return self._span([change.old for change in self.changes])

    @cached_property
    def new(self) -> str | None:
        return self._span([change.new for change in self.changes])

    @cached_property
    def nodes(self) -> str | None:
        if any(change.nodes is None for change in self.changes):
            return None
        return folded(host for change in self.changes for host in hosts_of(change.nodes or ""))

    def causes(self, plan: Plan) -> tuple[ManifestChange, ...]:
        """The values of the manifest behind them, in the order of the changes."""
        return tuple(dict.fromkeys(value for change in self.changes for value in plan.causes.get(change, ())))

    def _span(self, texts: Sequence[str | None]) -> str | None:
        """`1 … 300` of numbers, times and sizes; else the values, or how many there are. None where nothing was, and
        of what came or went as a whole.
        """
        different = list(dict.fromkeys(text for text in texts if text is not None))
        if not different or self._whole or self.directory:
            return None
        if len(different) <= _LISTED:
            return ", ".join(different)
        if self.first.kind == "setting":
            return f"{len(different):,} different"
        how = meaning(self.first.file.rpartition("/")[2], _BLOCKS.get(self.first.kind, ""), self.first.key)
        sizes: list[tuple[float, str]] = []
        for text in different:
            size = canonical(how, self.first.key, text)
            if isinstance(size, bool) or not isinstance(size, int | float):
                return f"{len(different):,} different"
            sizes.append((size, text))
        return f"{min(sizes)[1]} … {max(sizes)[1]}"


def families(changes: Iterable[Change]) -> list[Family]:
    """In the order of their first changes. What they take is the caller's: all changes of one heading."""
    changes = list(changes)
    files: dict[tuple[object, ...], set[str]] = {}
    for change in changes:
        files.setdefault(_alike(change, _directory(change)), set()).add(change.file)
    merged: dict[tuple[object, ...], list[Change]] = {}
    for change in changes:
        in_directory = _alike(change, _directory(change))
        several = change.kind == "file" and len(files[in_directory]) > FEW
        merged.setdefault(in_directory if several else _alike(change, change.file), []).append(change)
    return [Family(tuple(members)) for members in merged.values()]


def _alike(change: Change, file: str) -> tuple[object, ...]:
    name = change.name if change.kind == "gres" else ""
    sides = change.old is None, change.new is None
    return (file, change.kind, name, change.key, *sides, reason(change), change.source)


def _directory(change: Change) -> str:
    return change.file.rpartition("/")[0]
