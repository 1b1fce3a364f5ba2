"""Which changed values of the manifest stand behind a change on the nodes.

Where only one value changed, it is that one. Else values are reverted and the manifest is rendered again: what is then
no change any more, or another one, came from them. All values of a section are reverted first; where that has an
effect, the values of its parts, down to single ones. Names decide where a group of values need not be split, as in a
hundred partitions with another limit each, or where the number of trials is used up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from heapq import heappop, heappush

from clustergen.diff.change import Change
from clustergen.diff.inventory import Inventory
from clustergen.diff.manifest_changes import ManifestChange
from clustergen.diff.naming import Names
from clustergen.diff.reverts import HOSTS, ROOM, Item, Outcome, Reverts
from clustergen.diff.snapshot import Snapshot
from clustergen.records import record

Values = tuple[ManifestChange, ...]

_TRIALS = 64  # renders of one diff: some 60 ms each for a hundred nodes
_TRIALS_OF_LARGE = 16
_LARGE_HOSTS, _LARGE_GROUPS = 2000, 100  # of the inventory, as there is one per node type
_FEW = 8  # values that are tried each, although their names explain all that they do
_MOST_PARTS = 8  # of a group that are tried each; of more, halves


@record
class Causes:
    """The values behind each change, behind those of the machine room and of the inventory, as far as can be known."""

    of_changes: dict[Change, Values]
    of_room: Values
    of_hosts: Values
    untraced: frozenset[ManifestChange]
    """Values of which it is not known whether they have an effect."""


def causes(
    old: Snapshot,
    new: Snapshot,
    changes: Sequence[Change],
    edits: Sequence[ManifestChange],
    membership: Collection[ManifestChange] = (),
) -> Causes:
    """`membership`: the values that name nodes which join or leave; they only fit together."""
    if len(edits) < 2:
        values = tuple(edits)
        return Causes(dict.fromkeys(changes, values) if values else {}, values, values, frozenset())
    names = Names(edits, new, old)
    search = _Search(Reverts(old, new, edits), names, edits, frozenset(membership), _trials(new.inventory))
    search.run(changes)
    of_changes: dict[Change, Values] = {}
    for change in changes:
        if values := search.behind(change) or names.behind(change):
            of_changes[change] = values
    of_room, of_hosts = search.behind(ROOM), search.behind(HOSTS)
    reported = {value for values in (*of_changes.values(), of_room, of_hosts) for value in values}
    untraced = frozenset(edits) - search.settled - reported - frozenset(membership)
    return Causes(of_changes, of_room, of_hosts, untraced)


def _trials(new: Inventory) -> int:
    return _TRIALS_OF_LARGE if len(new.hosts) > _LARGE_HOSTS or len(new.groups) > _LARGE_GROUPS else _TRIALS


class _Group:
    """Values that are reverted together, and the items that they may be behind."""

    def __init__(self, values: Values, items: frozenset[Item], outcome: Outcome | None = None) -> None:
        self.values = values
        self.members = frozenset(values)
        self.items = items
        self.outcome = outcome
        self.parts: list[_Group] = []


class _Search:
    """Splits groups of values until each effect has its value, those first that names do not explain."""

    def __init__(
        self,
        reverts: Reverts,
        names: Names,
        edits: Sequence[ManifestChange],
        membership: frozenset[ManifestChange],
        trials: int,
    ) -> None:
        self.settled: set[ManifestChange] = set()
        """Values of which a trial has shown that they have no effect, or which one."""
        self._reverts = reverts
        self._names = names
        self._order = {value: number for number, value in enumerate(edits)}
        self._membership = membership
        self._trials = trials
        self._named: dict[Item, frozenset[ManifestChange]] = {}
        self._behind: dict[Item, set[ManifestChange]] = {}

    def behind(self, item: Item) -> Values:
        """The values behind an item, in the order of the manifest."""
        return tuple(sorted(self._behind.get(item, ()), key=self._order.__getitem__))

    def run(self, changes: Sequence[Change]) -> None:
        if not (items := frozenset(self._reverts.items(changes))):
            return
        groups = [_Group(tuple(self._order), items, Outcome(items, items))]
        waiting: list[tuple[bool, int, _Group]] = []

        def split(group: _Group) -> None:
            group.parts = [_Group(values, group.items) for values in self._parts(group.values)]
            for part in group.parts:
                groups.append(part)
                heappush(waiting, (self._is_explained(part), len(groups), part))  # names explain the last ones

        split(groups[0])
        while waiting and self._reverts.count < self._trials:
            group = heappop(waiting)[-1]
            group.outcome = self._reverts.outcome(group.values)
            if group.outcome is not None:
                group.items &= group.outcome.differing
            if not group.items:
                self.settled.update(group.values)
            elif self._is_worth_splitting(group):
                split(group)
        for group in reversed(groups):
            self._attribute(group)

    def _is_worth_splitting(self, group: _Group) -> bool:
        if len(group.values) == 1 or self._membership.issuperset(group.values):
            return False
        return len(group.values) <= _FEW or not self._is_explained(group)

    def _is_explained(self, group: _Group) -> bool:
        """True if names have a value for all that the group does, and an effect for each of its values."""
        named: set[ManifestChange] = set()
        for item in group.items:
            values = self._by_name(item, group)
            if not values and group.outcome is not None:
                return False
            named.update(values)
        return named >= group.members

    def _by_name(self, item: Item, group: _Group) -> frozenset[ManifestChange]:
        if item not in self._named:
            self._named[item] = frozenset() if isinstance(item, str) else frozenset(self._names.behind(item))
        return self._named[item] & group.members

    def _attribute(self, group: _Group) -> None:
        """Attribute the rest to the values that a group needs, by name, or to all; single values do not account
        for it.
        """
        if group.outcome is None:
            return
        if len(group.values) == 1:
            self.settled.update(group.values)
            for item in group.items:
                self._behind.setdefault(item, set()).update(group.values)
            return
        is_tried = bool(group.parts) and all(part.outcome is not None for part in group.parts)
        left: list[Item] = []
        for item in group.items:
            if not self._behind.get(item, set()).isdisjoint(group.members):
                if not is_tried:
                    self._behind[item].update(self._by_name(item, group) - self.settled)
            elif values := set() if is_tried else self._by_name(item, group):
                self._behind.setdefault(item, set()).update(values)
            elif item in group.outcome.removed:
                left.append(item)
        needed = self._needed(group, left) if left else {}
        for item in left:
            values = needed.get(item) or self._by_name(item, group)
            if not values and self._fit_together(group.values, is_tried=is_tried):
                values = set(group.values)
            self._behind.setdefault(item, set()).update(values)

    def _fit_together(self, values: Values, *, is_tried: bool) -> bool:
        """True if all of the values are named for what no part of them explains: those of nodes that join, those of a
        section such as `slurm.partitions`, of which each part was tried, or few of an entry.
        """
        if self._membership.issuperset(values):
            return True
        return len({value.path[:2] for value in values}) == 1 and (is_tried or len(values) <= _FEW)

    def _needed(self, group: _Group, items: Sequence[Item]) -> dict[Item, set[ManifestChange]]:
        """For each of the items the values without which the rest of the group does not undo it."""
        if len(group.values) > _FEW or len(group.values) > self._trials - self._reverts.count:
            return {}
        needed: dict[Item, set[ManifestChange]] = {item: set() for item in items}
        for value in group.values:
            outcome = self._reverts.outcome([other for other in group.values if other != value])
            for item in items:
                if outcome is not None and item not in outcome.removed:
                    needed[item].add(value)
        return needed

    def _parts(self, values: Values) -> Iterator[Values]:
        """Parts of the values: of nodes that join or leave; else of a section, an entry, a field; of many, halves."""
        joining = tuple(value for value in values if value in self._membership)
        others = tuple(value for value in values if value not in self._membership)
        if joining:
            yield joining
        if not others or (len(others) == 1 and not joining):
            yield from [others] if others else []
            return
        depth = next(
            (depth for depth in range(_deepest(others)) if len({value.path[: depth + 1] for value in others}) > 1), None
        )
        by_part: dict[object, list[ManifestChange]] = {}
        for number, value in enumerate(others):
            by_part.setdefault(number if depth is None else value.path[: depth + 1], []).append(value)
        listed = list(by_part.values())
        if len(listed) > _MOST_PARTS:
            half = len(listed) // 2
            listed = [[value for part in side for value in part] for side in (listed[:half], listed[half:])]
        yield from map(tuple, listed)


def _deepest(values: Values) -> int:
    return max(len(value.path) for value in values)
