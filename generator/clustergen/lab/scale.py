"""Shrinks node groups of a manifest, as a document: `--scale 3`, `--scale h100=3 --scale login=1`."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from clustergen.cluster.roles import COMPUTE, SERVICE
from clustergen.diagnostics import ClustergenError, did_you_mean
from clustergen.hostlist import HostlistError, compress, expand

Document = dict[str, Any]
_NOTHING = object()


def parse(words: Iterable[str]) -> dict[str | None, int]:
    """`["3", "login=1"]` → {None: 3, "login": 1}. Raises ClustergenError with exit code 2."""
    counts: dict[str | None, int] = {}
    for word in words:
        group, equals, number = word.rpartition("=")
        if not number.isascii() or not number.isdigit() or (equals and not group) or (not equals and int(number) == 0):
            raise ClustergenError(
                f"--scale {word}: not a number or GROUP=NUMBER", "write, for example, --scale h100=3", 2
            )
        counts[group if equals else None] = int(number)
    return counts


def scaled(document: Document, sizes: Mapping[str | None, int], computes: Collection[str] = ()) -> Document:
    """A copy with fewer nodes: of a group the first so many stay, and of the others no list holds a name any more.

    A group is a node type, a role, or a `name:` of `nodes` as written; None stands for every type of compute nodes, of
    which at most so many stay, those with the most roles first. `computes`: nodes that run jobs, also without the role,
    because they have GPUs. Raises ClustergenError with exit code 2 where no group is called so or is too small.
    """
    original, document = document, copy.deepcopy(document)
    entries = document["nodes"]
    hosts = [expand(entry["name"]) for entry in entries]
    roles = [
        _with_compute(roles_of(entry), computes=not set(computes).isdisjoint(names))
        for entry, names in zip(entries, hosts, strict=True)
    ]
    groups = _groups(entries, roles)
    leaving: set[str] = set()
    for group, size in sizes.items():
        if group is not None and group not in groups:
            hint = did_you_mean(group, groups) or f"use one of {', '.join(groups)}"
            raise ClustergenError(f"--scale {group}={size}: '{group}' is not a node type, role or node name", hint, 2)
        for indices in [groups[group]] if group is not None else _compute_types(entries, roles):
            names = [name for index in indices for name in hosts[index]]
            if group is not None and size > len(names):
                raise ClustergenError(f"--scale {group}={size}: the manifest has only {len(names)}", None, 2)
            leaving |= set(names[size:])
    if not leaving:
        return document
    document["nodes"] = [
        smaller
        for entry, names in zip(entries, hosts, strict=True)
        if (smaller := part(entry, names, [name for name in names if name not in leaving]))
    ]
    if not document["nodes"]:
        raise ClustergenError("--scale selects no node", None, 2)
    for key, value in list(document.items()):
        if key not in ("nodes", "node_types", "catalogue"):
            left = _without(value, leaving)
            if left is _NOTHING:
                del document[key]
            else:
                document[key] = left
    if removed := _racks(original) - _racks(document):
        _leave_racks(document, removed)
    _fit_partitions(document)
    return document


def _leave_racks(document: Document, removed: set[str]) -> None:
    """Plans of switches, loops of coolant and the air of rows, without racks that have gone."""
    for key in ("networks", "facility"):
        left = _without(document.get(key, {}), removed)
        if left is not _NOTHING and key in document:
            document[key] = left
    facility = document.get("facility") or {}
    rows = {rack.get("row") for rack in (document.get("racks") or {}).values()}
    if "loops" in facility:
        facility["loops"] = {name: loop for name, loop in facility["loops"].items() if "racks" in loop}
    if "airflow" in facility:
        facility["airflow"] = {row: air for row, air in facility["airflow"].items() if row in rows}


def _racks(document: Document) -> set[str]:
    return {name for names in document.get("racks") or {} for name in expand(names)}


def roles_of(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Roles of an entry of `nodes`, with the manifest's default."""
    if entry.get("roles") is not None:
        return tuple(entry["roles"])
    return () if entry["type"] == SERVICE else (COMPUTE,)


def _with_compute(roles: tuple[str, ...], *, computes: bool) -> tuple[str, ...]:
    return (*roles, COMPUTE) if computes and COMPUTE not in roles else roles


def _groups(entries: list[Document], roles: list[tuple[str, ...]]) -> dict[str, list[int]]:
    counts: dict[str, list[int]] = {}
    for index, (entry, listed) in enumerate(zip(entries, roles, strict=True)):
        for name in dict.fromkeys((entry["type"], *listed, entry["name"])):
            counts.setdefault(name, []).append(index)
    return counts


def _compute_types(entries: list[Document], roles: list[tuple[str, ...]]) -> list[list[int]]:
    counts: dict[str, list[int]] = {}
    for index, (entry, listed) in enumerate(zip(entries, roles, strict=True)):
        if COMPUTE in listed:
            counts.setdefault(entry["type"], []).append(index)
    return [sorted(indices, key=lambda index: -len(roles[index])) for indices in counts.values()]


def part(entry: Document, names: list[str], left: Collection[str]) -> Document | None:
    """The entry with some of its names, and their addresses and MACs; None without any."""
    stay = [index for index, name in enumerate(names) if name in left]
    if len(stay) == len(names):
        return entry
    if not stay:
        return None
    smaller = dict(entry, name=compress(names[index] for index in stay))
    if entry.get("address"):
        smaller["address"] = _picked(entry["address"], stay)
    if entry.get("addresses"):
        smaller["addresses"] = {key: _picked(value, stay) for key, value in entry["addresses"].items()}
    if entry.get("macs"):
        smaller["macs"] = [entry["macs"][index] for index in stay if index < len(entry["macs"])]
    return smaller


def _picked(addresses: Any, stay: list[int]) -> Any:
    if isinstance(addresses, (list, tuple)):
        return [_picked(rail, stay) for rail in addresses]
    if not isinstance(addresses, str):
        return addresses
    hosts = expand(addresses)
    return compress(hosts[index] for index in stay if index < len(hosts))


def _without(value: Any, leaving: set[str]) -> Any:
    """The value without the names; _NOTHING where it named nothing else."""
    if isinstance(value, str):
        return _list_without(value, leaving)
    if isinstance(value, dict):
        kept = {key: left for key, item in value.items() if (left := _without(item, leaving)) is not _NOTHING}
        # A switch or partition whose nodes have all gone goes with them.
        is_removed = "nodes" in value and "nodes" not in kept
        return _NOTHING if is_removed or (value and not kept) else kept
    if isinstance(value, (list, tuple)):
        left = [item for item in (_without(item, leaving) for item in value) if item is not _NOTHING]
        return _NOTHING if value and not left else left
    return value


def _list_without(text: str, leaving: set[str]) -> Any:
    if text.partition(":")[0] in leaving:  # a name, or an endpoint on it
        return _NOTHING
    try:
        names = expand(text) if len(text) < 65536 and " " not in text else []
    except HostlistError:
        return text
    left = [name for name in names if name not in leaving]
    if len(left) == len(names):
        return text
    return compress(left) if left else _NOTHING


def _fit_partitions(document: Document) -> None:
    """No partition asks for more nodes than it has now."""
    all_nodes = [name for entry in document["nodes"] for name in expand(entry["name"])]
    for partition in (document["slurm"].get("partitions") or {}).values():
        try:
            names = expand(partition.get("nodes") or "all")
        except HostlistError:
            continue
        count = len(all_nodes) if names == ["all"] else len(names)
        for key in ("min_nodes", "max_nodes"):
            if isinstance(partition.get(key), int) and partition[key] > count:
                partition[key] = count
