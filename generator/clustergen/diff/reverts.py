"""The differences that remain when changed values of the manifest are reverted: the new manifest is rendered without
them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import deepcopy
from typing import Any

from clustergen.diagnostics.model_path import value_at
from clustergen.diff.change import Change
from clustergen.diff.compare import Comparison
from clustergen.diff.manifest_changes import ManifestChange
from clustergen.diff.room import room_changes
from clustergen.diff.room_tables import FACILITY
from clustergen.diff.snapshot import Snapshot, of_tree
from clustergen.manifest.source import Source
from clustergen.records import record, replace

ROOM, HOSTS = "room", "hosts"
Item = Change | str
"""A change; `ROOM` or `HOSTS` for all that changes in the machine room, or in the inventory's groups and addresses."""


@record
class Outcome:
    """Of some values. `differing` are the items that are not what they were; `removed` are those that are no more."""

    differing: frozenset[Item]
    removed: frozenset[Item]


@record
class _State:
    """All that is compared of a manifest against the old side."""

    changes: frozenset[Change]
    room: Any
    hosts: Any


class Reverts:
    """Renders the new manifest again with some values as they were, and counts how often it did."""

    def __init__(self, old: Snapshot, new: Snapshot, edits: Sequence[ManifestChange]) -> None:
        self.count = 0
        self._old, self._new = old, new
        self._edits = edits
        self._current = self._state_of(new.source.data) if new.source and old.source else None
        self._none = _State(frozenset(), room_changes(old.tables, old.tables), _hosts(old))

    def items(self, changes: Collection[Change]) -> tuple[Item, ...]:
        """The changes to try: those that the two manifests make, and not those that a tree on disk has from elsewhere.

        Empty where the new manifest does not render.
        """
        if self._current is None:
            return ()
        more = [item for item, side in self._sides(self._current).items() if side != self._sides(self._none)[item]]
        return (*(change for change in changes if change in self._current.changes), *more)

    def outcome(self, values: Collection[ManifestChange]) -> Outcome | None:
        """None where the manifest is not valid without these values, or has no place for the old ones."""
        self.count += 1
        assert self._new.source is not None
        assert self._old.source is not None
        assert self._current is not None
        data = deepcopy(self._new.source.data)
        reverted = frozenset(values)
        try:
            for value in reversed([value for value in self._edits if value in reverted]):
                _revert(data, self._old.source.data, value)
        except (KeyError, IndexError, TypeError):
            return None
        state = self._state_of(data)
        if state is None:
            return None
        same = {_without_nodes(change) for change in state.changes}
        about = {_about(change) for change in state.changes}
        changes = [change for change in self._current.changes if _without_nodes(change) not in same]
        sides, current, none = map(self._sides, (state, self._current, self._none))
        differing: set[Item] = {*changes, *(item for item in sides if sides[item] != current[item])}
        removed: set[Item] = {
            *(change for change in changes if _about(change) not in about),
            *(item for item in sides if current[item] != sides[item] == none[item]),
        }
        return Outcome(frozenset(differing), frozenset(removed))

    def _sides(self, state: _State) -> dict[str, Any]:
        return {ROOM: state.room, HOSTS: state.hosts}

    def _state_of(self, data: Any) -> _State | None:
        from clustergen import compile as compiler

        source = self._new.source
        assert source is not None
        made = compiler.tree_of(data, _file_name(source))
        if made is None:
            return None
        cluster, tree = made
        snapshot = of_tree(self._new.name, tree, cluster, source)
        changes = frozenset(Comparison(self._old, snapshot).changes())
        return _State(changes, room_changes(self._old.tables, snapshot.tables), _hosts(snapshot))


def _hosts(side: Snapshot) -> Any:
    """Where the inventory looks for which hosts, without groups that only split files."""
    groups = {name: frozenset(hosts) for name, hosts in side.inventory.groups.items() if "__" not in name}
    texts = {path: text for path, text in side.texts.items() if not path.startswith(FACILITY)}
    return groups, dict(side.inventory.addresses), texts


def _without_nodes(change: Change) -> Change:
    """A value that only reaches more or fewer nodes is the same value."""
    return replace(change, nodes=None) if change.key else change


def _about(change: Change) -> tuple[str, str, str, str]:
    return change.file, change.kind, change.name, change.key


def _file_name(source: Source) -> str:
    return source.name.rpartition("/")[2].rpartition(":")[2]


def _revert(data: Any, before: Any, value: ManifestChange) -> None:
    """Puts one value of a document back to what it was. Raises LookupError or TypeError where it has no place."""
    *parents, last = value.path
    parent = value_at(data, tuple(parents))
    if value.old_path is None:
        del parent[last]
        return
    previous = deepcopy(value_at(before, value.old_path))
    if value.new is None and isinstance(parent, list):
        parent.append(previous)
    else:
        parent[last] = previous
