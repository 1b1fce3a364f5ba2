"""Which changed value of the manifest stands behind a change on the nodes.

Where only one value changed, it is that one. Else each is taken back by itself, and what is then no change any more
came from it. Where that cannot be tried (values that only fit together, a very large cluster), names decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from clustergen.diagnostics import ManifestPath
from clustergen.plan.change import Change
from clustergen.plan.compare import Comparison
from clustergen.plan.naming import Names
from clustergen.plan.snapshot import Snapshot, of_tree
from clustergen.plan.written import Written, value_at

Causes = dict[Change, tuple[Written, ...]]
_MOST_TRIALS = 8
_MOST_HOSTS = 2000
_MOST_GROUPS = 100  # of the inventory, as there is one per node type: each trial renders all of it


def causes(old: Snapshot, new: Snapshot, changes: Sequence[Change], written: Sequence[Written]) -> Causes:
    """Change → the values behind it, as far as they can be known."""
    if len(written) == 1:
        return dict.fromkeys(changes, (written[0],))
    found: dict[Change, list[Written]] = {}
    units = _units(written)
    if units and len(units) <= _MOST_TRIALS and len(new.hosts) <= _MOST_HOSTS and len(new.groups) <= _MOST_GROUPS:
        found = _tried(old, new, changes, units)
    told = {change: tuple(values) for change, values in found.items()}
    names = Names(written, new, old)
    for change in changes:
        if change not in told and (named := names.behind(change)):
            told[change] = named
    return told


def _units(written: Sequence[Written]) -> list[list[Written]]:
    """Values that belong together: those of one entry of `nodes`, of one partition."""
    found: dict[ManifestPath, list[Written]] = {}
    for value in written:
        depth = 3 if value.path[:1] == ("slurm",) else 2
        found.setdefault(value.path[:depth], []).append(value)
    return list(found.values())


def _tried(
    old: Snapshot, new: Snapshot, changes: Sequence[Change], units: list[list[Written]]
) -> dict[Change, list[Written]]:
    if new.source is None or old.source is None:
        return {}
    found: dict[Change, list[Written]] = {}
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
                    found.setdefault(change, []).extend(unit)
    return {change: values for change, values in found.items() if change in changes}


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


def _take_back(data: Any, before: Any, value: Written) -> None:
    """Puts one value of a document back to what it was. KeyError and its kin where there is no place for it."""
    *parents, last = value.path
    here = value_at(data, tuple(parents))
    if value.old_path is None:
        del here[last]
        return
    was = deepcopy(value_at(before, value.old_path))
    if value.new is None and isinstance(here, list):
        here.append(was)
    else:
        here[last] = was
