"""Which changed value of the manifest stands behind a change on the nodes.

Where only one value changed, it is that one. Else each is taken back by itself, and what is then no change any more
came from it; values that only fit together, as those that name nodes which join, are taken back together. Where that
cannot be tried (a manifest that is then invalid, a very large cluster), names decide.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import deepcopy
from typing import Any

from clustergen.diagnostics import ManifestPath
from clustergen.diff.change import Change
from clustergen.diff.compare import Comparison
from clustergen.diff.manifest_changes import ManifestChange, value_at
from clustergen.diff.naming import Names
from clustergen.diff.snapshot import Snapshot, of_tree
from clustergen.records import replace

Causes = dict[Change, tuple[ManifestChange, ...]]
_MOST_TRIALS = 8
_MOST_HOSTS = 2000
_MOST_GROUPS = 100  # of the inventory, as there is one per node type: each trial renders all of it


def causes(
    old: Snapshot,
    new: Snapshot,
    changes: Sequence[Change],
    edits: Sequence[ManifestChange],
    membership: Collection[ManifestChange] = (),
) -> Causes:
    """Change → the values behind it, as far as can be known. `membership`: those that name nodes that come or go."""
    if len(edits) == 1:
        return dict.fromkeys(changes, (edits[0],))
    names = Names(edits, new, old)
    behind: Causes = {}
    if len(new.hosts) <= _MOST_HOSTS and len(new.groups) <= _MOST_GROUPS:
        behind = _tried(old, new, changes, edits, frozenset(membership), names)
    for change in changes:
        if change not in behind and (named := names.behind(change)):
            behind[change] = named
    return behind


def _units(edits: Sequence[ManifestChange], membership: Collection[ManifestChange]) -> list[list[ManifestChange]]:
    """Values that belong together: all that name nodes which come or go, those of one entry or of one partition."""
    units: dict[ManifestPath, list[ManifestChange]] = {}
    for value in edits:
        depth = 0 if value in membership else 3 if value.path[:1] == ("slurm",) else 2
        units.setdefault(value.path[:depth], []).append(value)
    return list(units.values())


def _tried(
    old: Snapshot,
    new: Snapshot,
    changes: Sequence[Change],
    edits: Sequence[ManifestChange],
    membership: frozenset[ManifestChange],
    names: Names,
) -> Causes:
    units = _units(edits, membership)
    if new.source is None or old.source is None or not units or len(units) > _MOST_TRIALS:
        return {}
    rendered_anew = _changes_of(old, new, new.source.data)
    if rendered_anew is None:
        return {}
    changes = [change for change in changes if change in rendered_anew]  # not what a tree on disk has from elsewhere
    behind: dict[Change, list[ManifestChange]] = {}
    trials = _MOST_TRIALS - len(units)
    for unit in units:
        caused = _caused_by(old, new, changes, unit)
        narrowed: dict[Change, list[ManifestChange]] = {}
        if caused and 1 < len(unit) <= trials and not membership.issuperset(unit):
            trials -= len(unit)
            for value in unit:
                for change in _caused_by(old, new, caused, [value]):
                    narrowed.setdefault(change, []).append(value)
        for change in caused:
            by_name = [value for value in unit if value in names.behind(change)]
            behind.setdefault(change, []).extend(narrowed.get(change) or by_name or unit)
    return {change: tuple(values) for change, values in behind.items()}


def _caused_by(
    old: Snapshot, new: Snapshot, changes: Sequence[Change], values: Sequence[ManifestChange]
) -> list[Change]:
    """Those of the changes that are none, or others, with these values taken back."""
    assert new.source is not None
    assert old.source is not None
    data = deepcopy(new.source.data)
    try:
        for value in reversed(values):
            _take_back(data, old.source.data, value)
    except (KeyError, IndexError, TypeError):
        return []
    left = _changes_of(old, new, data)
    if left is None:
        return []
    same = {_without_nodes(change) for change in left}
    about = {_about(change) for change in left}
    return [
        change
        for change in changes
        if _without_nodes(change) not in same and (_about(change) not in about or len(values) == 1)
    ]


def _without_nodes(change: Change) -> Change:
    """A value that only reaches more or fewer nodes is the same value."""
    return replace(change, nodes=None) if change.key else change


def _about(change: Change) -> tuple[str, str, str, str]:
    return change.file, change.kind, change.name, change.key


def _changes_of(old: Snapshot, new: Snapshot, data: Any) -> frozenset[Change] | None:
    from clustergen import compile as compiler

    assert new.source is not None
    made = compiler.tree_of(data, _manifest_name(new))
    if made is None:
        return None
    cluster, tree = made
    snapshot = of_tree(new.name, tree, cluster, new.source)
    return frozenset(Comparison(old, snapshot).changes())


def _manifest_name(new: Snapshot) -> str:
    assert new.source is not None
    return new.source.name.rpartition("/")[2].rpartition(":")[2]


def _take_back(data: Any, before: Any, value: ManifestChange) -> None:
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
