"""Whether a value of the manifest is called as a change on the nodes is: by field, partition, node, type, entry."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.plan.change import Change
from clustergen.plan.snapshot import Snapshot
from clustergen.plan.values import hosts_of
from clustergen.plan.written import Written, value_at
from clustergen.rules.slurm_managed import field_of

_BLOCKS = {"node": "NodeName", "gres": "NodeName", "partition": "PartitionName"}


def is_named(change: Change, value: Written, new: Snapshot, old: Snapshot) -> bool:
    """Whether names alone tell that the value stands behind the change."""
    section = value.path[0]
    if section == "nodes":
        return _of_the_nodes(change, value, new, old)
    if section == "node_types":
        return _of_the_type(change, value, new, old)
    if section == "storage":
        return len(value.path) > 1 and change.kind == "file" and _word(str(value.path[1]), change.file)
    if value.path[:2] == ("slurm", "partitions"):
        return _of_the_partition(change, value)
    if change.kind in ("switch", "block"):
        return section == "networks" and f"[{change.name}]" in value.label
    return change.kind == "key" and _of_the_key(change, value)


def _word(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _field(change: Change) -> str | None:
    return field_of(change.file.rpartition("/")[2], _BLOCKS.get(change.kind, ""), change.key)


def _of_the_key(change: Change, value: Written) -> bool:
    """By the field that says the key, or the key itself in a section of options."""
    if change.key and str(value.path[-1]).lower() == change.key.lower():
        return True
    field = _field(change)
    return field is not None and (value.label == field or value.label.startswith((f"{field}.", f"{field}[")))


def _of_the_partition(change: Change, value: Written) -> bool:
    if change.kind != "partition" or len(value.path) < 3 or value.path[2] != change.name:
        return False
    if len(value.path) == 3 or not change.key:
        return True
    field = _field(change)
    return str(value.path[-1]).lower() in (change.key.lower(), field and field.split(",")[0])


def _of_the_nodes(change: Change, value: Written, new: Snapshot, old: Snapshot) -> bool:
    """An entry of `nodes` that came or went, or whose names did."""
    if change.nodes is None or change.kind in ("key", "file"):
        return False
    if len(value.path) > 2 and value.path[2] not in ("name", "type", "roles"):
        return change.key == "NodeAddr" and value.path[2] == "address"
    return bool(set(_moved(value, new, old)) & set(hosts_of(change.nodes)))


def _moved(value: Written, new: Snapshot, old: Snapshot) -> Iterator[str]:
    """Names that stand in the entry on one side only."""
    names: list[set[str]] = []
    for source, path in ((new.source, value.path if value.new is not None else None), (old.source, value.old_path)):
        entry = value_at(source.data, path[:2]) if source is not None and path is not None else None
        names.append(set(hosts_of(str(entry.get("name", "")))) if isinstance(entry, dict) else set())
    yield from names[0] ^ names[1] if len(value.path) == 2 or value.path[2] == "name" else names[0] | names[1]


def _of_the_type(change: Change, value: Written, new: Snapshot, old: Snapshot) -> bool:
    """A field of the type that the nodes are of."""
    if change.nodes is None or change.kind not in ("node", "gres") or len(value.path) < 2:
        return False
    field = _field(change) if change.key else None
    section = (field or ("gpus" if change.kind == "gres" else "")).split(".")[0]
    if change.key and len(value.path) > 2 and value.path[2] not in (section, "system"):
        return str(value.path[-1]).lower() == change.key.lower()
    group = "type_" + re.sub(r"\W", "_", str(value.path[1]))
    members = {*new.groups.get(group, ()), *old.groups.get(group, ())}
    return bool(members & set(hosts_of(change.nodes)))
