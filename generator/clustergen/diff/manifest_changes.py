"""Two manifests compared as documents: which values changed, and where they stand."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from clustergen.diagnostics import ManifestPath, Place
from clustergen.diagnostics.model_path import value_at
from clustergen.diagnostics.redaction import redacted_value
from clustergen.diagnostics.words import cut
from clustergen.hostlist import names_of
from clustergen.manifest.source import Source
from clustergen.records import record
from clustergen.render.yaml_flow import flow

_LONGEST, _MOST_READ = 120, 4096


@record
class ManifestChange:
    """One value of the manifest that is not what it was; `old` or `new` is None where it is not there."""

    path: ManifestPath
    """In the new manifest, or in the old one where it is gone."""
    label: str
    """`slurm.partitions.debug.max_time`, `nodes[gpu[1-4]].address`."""
    old: str | None
    new: str | None
    place: Place | None
    """In the new manifest; in the old one where the value is gone."""
    old_path: ManifestPath | None
    """In the old manifest; None where it was not there."""


def compare_manifests(old: Source, new: Source) -> tuple[ManifestChange, ...]:
    """Every changed value, in the order of the new file."""
    values: list[ManifestChange] = []
    for old_path, new_path in differing(old.data, new.data, (), ()):
        source, path = (new, new_path) if new_path is not None else (old, old_path)
        assert path is not None
        before = None if old_path is None else text_at(old, old_path)
        after = None if new_path is None else text_at(new, new_path)
        place = source.place(path, key=new_path is None or old_path is None)
        values.append(
            ManifestChange(
                path=path, label=label(source.data, path), old=before, new=after, place=place, old_path=old_path
            )
        )
    return tuple(sorted(values, key=lambda change: (change.new is None, change.place or Place(""))))


_Pair = tuple[ManifestPath | None, ManifestPath | None]


def differing(old: Any, new: Any, before: ManifestPath, after: ManifestPath) -> Iterator[_Pair]:
    """The paths of the values that differ, in both documents; None where it is not in that one."""
    if old == new and type(old) is type(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**new, **old}:
            if key not in new:
                yield (*before, key), None
            elif key not in old:
                yield None, (*after, key)
            else:
                yield from differing(old[key], new[key], (*before, key), (*after, key))
    elif _is_list_of_entries(old) and _is_list_of_entries(new):
        yield from _entries(old, new, before, after)
    else:
        yield before, after


def _is_list_of_entries(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _entries(old: list[Any], new: list[Any], before: ManifestPath, after: ManifestPath) -> Iterator[_Pair]:
    """Lists of entries with names: by name, then by the hosts that they share, then by all else that they say."""
    partner: dict[int, int] = {}
    free = set(range(len(old)))
    for marks in (_name, _hosts, _rest):
        having: dict[Hashable, list[int]] = {}
        for index in sorted(free, reverse=True):
            for mark in marks(old[index]):
                having.setdefault(mark, []).append(index)
        for index, item in enumerate(new):
            if index not in partner:
                firsts = [places[-1] for mark in marks(item) if (places := _still(free, having.get(mark, [])))]
                if firsts:
                    partner[index] = min(firsts)
                    free.discard(partner[index])
    for index, item in enumerate(new):
        if index in partner:
            yield from differing(old[partner[index]], item, (*before, partner[index]), (*after, index))
        else:
            yield None, (*after, index)
    for index in sorted(free):
        yield (*before, index), None


def _still(free: set[int], places: list[int]) -> list[int]:
    """Drops from the end what is taken."""
    while places and places[-1] not in free:
        places.pop()
    return places


def _name(entry: dict[str, Any]) -> tuple[str, ...]:
    return (str(entry["name"]),) if "name" in entry else ()


def _hosts(entry: dict[str, Any]) -> Sequence[str]:
    return names_of(str(entry.get("name", "")))


def _rest(entry: dict[str, Any]) -> tuple[str]:
    """All but the name and the address."""
    return (repr({key: value for key, value in sorted(entry.items(), key=str) if key not in ("name", "address")}),)


def label(data: Any, path: ManifestPath) -> str:
    """The path in words: an entry of a list is called by its name."""
    text = ""
    for part in path:
        data = value_at(data, (part,))
        if isinstance(part, int):
            name = data.get("name") if isinstance(data, dict) else None
            text += f"[{part if name is None else name}]"
        else:
            text += f".{part}" if text else str(part)
    return text


def text_at(source: Source, path: ManifestPath) -> str:
    """A value as the file has it, mappings and lists on one line, without what looks like a secret."""
    value = value_at(source.data, path)
    text = source.text_of(path) if not isinstance(value, dict | list) else None
    text = flow(value) if text is None else text
    return cut(redacted_value(str(path[-1]) if path else "", text[:_MOST_READ]), _LONGEST)
