"""Which changed value of the manifest stands behind a change on the nodes.

Where only one value changed, it is that one. Else each is taken back by itself, and what is then no change any more
came from it. Where that cannot be tried (values that only fit together, a very large cluster), names decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from clustergen.diagnostics import ManifestPath
from clustergen.diff.change import Change
from clustergen.diff.compare import Comparison
from clustergen.diff.manifest_changes import ManifestChange, value_at
from clustergen.diff.naming import Names
from clustergen.diff.snapshot import Snapshot, of_tree

Causes = dict[Change, tuple[ManifestChange, ...]]
_MOST_TRIALS = 8
_MOST_HOSTS = 2000
_MOST_GROUPS = 100  # of the inventory, as there is one per node type: each trial renders all of it


def causes(old: Snapshot, new: Snapshot, changes: Sequence[Change], edits: Sequence[ManifestChange]) -> Causes:
    """Change → the values behind it, as far as they can be known."""
    if len(edits) == 1:
        return dict.fromkeys(changes, (edits[0],))
    tried: dict[Change, list[ManifestChange]] = {}
    units = _units(edits)
    if units and len(units) <= _MOST_TRIALS and len(new.hosts) <= _MOST_HOSTS and len(new.groups) <= _MOST_GROUPS:
        tried = _tried(old, new, changes, units)
    behind = {change: tuple(values) for change, values in tried.items()}
    names = Names(edits, new, old)
    for change in changes:
        if change not in behind and (named := names.behind(change)):
            behind[change] = named
    return behind


def _units(edits: Sequence[ManifestChange]) -> list[list[ManifestChange]]:
    """Values that belong together: those of one entry of `nodes`, of one partition."""
    units: dict[ManifestPath, list[ManifestChange]] = {}
    for value in edits:
        depth = 3 if value.path[:1] == ("slurm",) else 2
        units.setdefault(value.path[:depth], []).append(value)
    return list(units.values())


def _tried(
    old: Snapshot, new: Snapshot, changes: Sequence[Change], units: list[list[ManifestChange]]
) -> dict[Change, list[ManifestChange]]:
    if new.source is None or old.source is None:
        return {}
    behind: dict[Change, list[ManifestChange]] = {}
    all_of_it = _changes_of(old, new, new.source.data)
    if all_of_it is None:
        return {}
    for unit in units:
        data = deepcopy(new.source.data)
        try:
            for value in reversed(unit):
                _take_back(data, old.source.data, value)
        except (KeyError, IndexError, TypeError):
            continue
        left = _changes_of(old, new, data)
        if left is not None:
            about = {_about(change) for change in left}
            for change in all_of_it:
                if change not in left and (_about(change) not in about or len(unit) == 1):
                    behind.setdefault(change, []).extend(unit)
    return {change: values for change, values in behind.items() if change in changes}


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
