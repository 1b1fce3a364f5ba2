"""Moves or removes what the manifest's checks refuse: to options, to files of the site's own, or out of the draft."""

from __future__ import annotations

from functools import cached_property
from typing import cast

from clustergen.catalogue.slurm_meanings import spelled
from clustergen.catalogue.slurm_values import has_tokens, unknown_token_is_fatal
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.hostlist import HostlistError, compress, expand
from clustergen.importer.associations import REMOVED_BY_SCRIPT
from clustergen.importer.controllers import as_written
from clustergen.importer.draft import Draft, Item, Kind, Value
from clustergen.importer.fabric import as_file, is_about_topology, without_plugin
from clustergen.importer.originals import Originals

_STRANGERS = ("node-unknown", "node-not-compute")
_NO_TOPOLOGY = ("topology-without-switches", "topology-blocks-missing")
_OF_TOPOLOGY = ("node-without-switch", "node-without-block", "topology-without-switches", "topology-too-new")
_ACCOUNTING = (("slurm", "qos"), ("slurm", "accounts"), ("slurm", "users"))
_PREEMPTION: ManifestPath = ("slurm", "preemption")
_BUILD = ("slurm-plugin-lacking", "slurm-without-cgroup-v2", "slurm-not-in-distribution")


class Names:
    """Names that a partition's nodes may use, for the duration of one round."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft

    @cached_property
    def hosts(self) -> frozenset[str]:
        data = self._draft.data()
        entries = (entry for entry in data["nodes"] if entry["type"] != "service")
        return frozenset(
            (*data["slurm"].get("node_sets", {}), *(host for one in entries for host in expand(one["name"])))
        )


def handle_error(draft: Draft, originals: Originals, error: Finding, names: Names) -> bool:
    """Moves or removes what an error is about; False where that cannot be done."""
    if error.code == "address-missing":
        return _set(draft, ("host", "hosts_file"), False)
    if error.path[:2] == _PREEMPTION and (*_PREEMPTION, "by") not in draft.items:
        for one in draft.below(_PREEMPTION):  # PreemptType is an option, so the keys beside it are
            if not draft.demote(one):
                draft.remove(one)
        return True
    about = is_about_topology(error.path) or error.code in _OF_TOPOLOGY
    if about and as_file(draft, originals, error.message):
        return True
    if error.code in _NO_TOPOLOGY:
        return without_plugin(draft, originals)
    if error.code in _BUILD and _set(draft, ("slurm", "build"), "schedmd"):
        return True
    item = draft.nearest(error.path)
    if item is None:
        below = [one for one in draft.below(error.path) if not one.needed] if len(error.path) > 2 else []
        moved = [one for one in below if _move(draft, originals, one, error, names)]
        return bool(moved)
    return _move(draft, originals, item, error, names)


def _set(draft: Draft, path: ManifestPath, value: bool | str) -> bool:
    if path in draft.items and draft.items[path].value == value:
        return False
    draft.set(path, value, needed=True)
    return True


def _move(draft: Draft, originals: Originals, item: Item, error: Finding, names: Names) -> bool:
    if item.path not in draft.items:
        return True  # another error has moved it
    if item.needed:
        return error.code in _STRANGERS and _without_strangers(draft, item, names.hosts)
    if item.path[-1] == "address":
        _set(draft, ("host", "hosts_file"), False)
    if draft.demote(item) or _without_member(draft, item, error):
        return True
    text = ",".join(map(str, item.value)) if isinstance(item.value, tuple) else str(item.value)
    kind: Kind = "meant" if _passed_over(error, item) else "left-out"
    origin = item.origins[0] if item.origins else None
    place, key = (origin.place, _about(item)) if origin else ("", ".".join(map(str, item.path)))
    if error.at is not None and "," in text and isinstance(item.value, str):
        start = error.at[0]
        word = next((part for part, begin in _parts(text) if begin <= start < begin + len(part) + 1), "")
        rest = ",".join(part for part, _ in _parts(text) if part != word)
        if word.strip() and rest:
            draft.note(kind, f"{word.strip()} of {item.path[-1]}: {_error_text(error, item)}", place, key)
            item.value = rest
            return True
    draft.remove(item)
    if item.path[0] == "nodes" and item.path[-1] == "address":
        draft.note("choice", f"{error.message}: the manifest does not contain it as a host address", place)
        as_written(draft, originals)
    else:
        draft.note(kind, f"{item.path[-1]}={text}: {_error_text(error, item)}", place, key)
    if item.comments:
        draft.tail += item.comments
    return True


def _without_member(draft: Draft, item: Item, error: Finding) -> bool:
    """A list without the one name that an error is about; False where it is about the whole, or nothing is left."""
    index = error.path[-1]
    if not isinstance(item.value, tuple) or len(error.path) != len(item.path) + 1 or not isinstance(index, int):
        return False
    left = tuple(member for place, member in enumerate(item.value) if place != index)
    if not left or not item.origins:
        return False
    draft.note("left-out", f"{item.value[index]} of {item.path[-1]}: {_error_text(error, item)}", item.origins[0].place)
    draft.items[item.path].value = cast("Value", left)
    return True


def _error_text(error: Finding, item: Item) -> str:
    words = f"{error.message}; {error.hint}" if error.hint else error.message
    return f"{words}; {REMOVED_BY_SCRIPT}" if item.path[:2] in _ACCOUNTING else words


def _passed_over(error: Finding, item: Item) -> bool:
    """True if Slurm takes no notice of what is wrong: a word that it does not know."""
    key = str(item.path[-1])
    return error.code == "slurm-word-unknown" and has_tokens(key) and not unknown_token_is_fatal(key)


def _parts(text: str) -> list[tuple[str, int]]:
    parts, start = [], 0
    for part in text.split(","):
        parts.append((part, start))
        start += len(part) + 1
    return parts


def _about(item: Item) -> str:
    """Key and name of the setting, as `Note.key` has them."""
    if not item.origins:
        return ""
    origin = next(
        (one for one in item.origins if one.key.lower() not in ("nodename", "partitionname")), item.origins[0]
    )
    block = {"nodename": "NodeName", "partitionname": "PartitionName"}.get(origin.block, "")
    (key, *_) = spelled(origin.file.rpartition("/")[2] or "slurm.conf", block, origin.key)
    return f"{key} {origin.name}" if origin.block else key


def _without_strangers(draft: Draft, item: Item, node_sets: frozenset[str]) -> bool:
    """A partition or node set without the names that are no compute nodes."""
    if item.path[-1] != "nodes" and item.path[:2] != ("slurm", "node_sets"):
        return False
    try:
        names = expand(str(item.value))
    except HostlistError:
        return False
    strange = [name for name in names if name not in node_sets]
    origin = item.origins[0]
    words = f"{compress(strange)} of {origin.name}: no NodeName line defines it"
    draft.note("left-out", words, origin.place, f"Nodes {origin.name}")
    item.value = compress(name for name in names if name in node_sets) or "none"
    return bool(strange)
