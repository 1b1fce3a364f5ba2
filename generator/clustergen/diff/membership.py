"""Values of a manifest that changed because nodes join or leave: names, addresses, and host lists elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from clustergen.diagnostics import ManifestPath
from clustergen.diagnostics.model_path import value_at
from clustergen.diff.manifest_changes import ManifestChange
from clustergen.diff.snapshot import Snapshot
from clustergen.slurmconf.scalars import hosts_of

_OF_NODES = ("name", "address", "addresses")


def of_membership(
    old: Snapshot, new: Snapshot, edits: Sequence[ManifestChange], hosts: Collection[str]
) -> tuple[ManifestChange, ...]:
    """The edits that only say which nodes there are and where; `hosts` are those that join or leave."""
    if not hosts or old.source is None or new.source is None:
        return ()
    renamed = {_entry(value) for value in edits if value.path[0] == "nodes" and _names_nodes(value)}
    moved = set(hosts)
    return tuple(
        value
        for value in edits
        if (_of_entry(value) if _entry(value) in renamed else _lists(old.source.data, new.source.data, value, moved))
    )


def _entry(value: ManifestChange) -> ManifestPath:
    return value.path[:2]


def _names_nodes(value: ManifestChange) -> bool:
    return len(value.path) == 2 or value.path[2] == "name"


def _of_entry(value: ManifestChange) -> bool:
    return len(value.path) == 2 or value.path[2] in _OF_NODES


def _lists(old: Any, new: Any, value: ManifestChange, moved: set[str]) -> bool:
    """True if the value is a host list that differs by hosts which join or leave, and by nothing else."""
    if value.old is None or value.new is None or value.old_path is None:
        return False
    sides = [_hosts(value_at(data, path)) for data, path in ((old, value.old_path), (new, value.path))]
    if sides[0] is None or sides[1] is None:
        return False
    apart = sides[0] ^ sides[1]
    return bool(apart) and apart <= moved


def _hosts(value: Any) -> set[str] | None:
    texts = value if isinstance(value, list) else [value]
    return {host for text in texts for host in hosts_of(text)} if all(isinstance(text, str) for text in texts) else None
