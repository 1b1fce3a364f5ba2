"""Sections that are indented one level too deep, or keys one too little: each reads as the name of an entry.

`accounts` below `partitions` reads as a partition, and `gpus` beside a node type as another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_origin

from pydantic import BaseModel

from clustergen.diagnostics.model import Finding, ManifestPath
from clustergen.diagnostics.model_path import entry_of, follow, keys_of, value_at
from clustergen.diagnostics.words import quote, where


def misplaced_sections(findings: list[Finding], model: type[BaseModel], data: Any) -> list[Finding]:
    """The findings, with one in place of all those inside a section that is indented as an entry of its neighbour."""
    kept: dict[ManifestPath | int, Finding] = {}
    for index, finding in enumerate(findings):
        if (entries := _nameless(finding, model, data)) is not None:
            if entries not in kept:
                section = where(entries, data)
                message = f"{section} has entries by name, but has the keys of one entry"
                hint = f"write {entries[-1]}: {{NAME: {{{', '.join(f'{key}: …' for key in value_at(data, entries))}}}}}"
                kept[entries] = Finding("key-unknown", entries, message, hint, key=True)
            continue
        entry = _misplaced(finding, model, data)
        outside = _outside(finding, model, data) if entry is None else None
        if outside is not None:
            entry, above = outside
            if entry not in kept:
                name = quote(str(entry[-1]))
                message = f"{name} is a key of {where(above, data)}, but is indented as much as it"
                hint = f"indent {name} below {quote(str(above[-1]))}"
                kept[entry] = Finding("key-unknown", entry, message, hint, key=True)
        elif entry is None:
            kept[index] = finding
        elif entry not in kept:
            name, parent, neighbour = str(entry[-1]), where(entry[:-2], data) or "the manifest", str(entry[-2])
            message = f"{quote(name)} is a section of {parent}, but is indented below {quote(neighbour)}"
            hint = f"indent {quote(name)} by as many spaces as {quote(neighbour)}"
            kept[entry] = Finding("key-unknown", entry, message, hint, key=True)
    return list(kept.values())


def _mappings(finding: Finding, model: type[BaseModel], data: Any) -> Iterator[tuple[ManifestPath, Mapping[str, Any]]]:
    """The mappings of names to sections around a finding that an indentation may cause, the outermost first."""
    for end in range(1, len(finding.path)) if finding.code in ("key-unknown", "key-missing", "type-wrong") else ():
        path = tuple(finding.path[:end])
        declared, entries = follow(model, path).declared, value_at(data, path)
        if get_origin(getattr(declared, "annotation", declared)) is dict and isinstance(entries, Mapping) and entries:
            yield path, entries


def _nameless(finding: Finding, model: type[BaseModel], data: Any) -> ManifestPath | None:
    """The path of a mapping of names to sections around a finding, if all its keys are those of such a section."""
    for path, entries in _mappings(finding, model, data):
        entry = entry_of(follow(model, (*path, next(iter(entries)))).declared)[0]
        if entry is not None and all(key in keys_of(entry) for key in entries):
            is_like = [
                not isinstance(value, Mapping) or not any(key in value for key in keys_of(entry))
                for value in entries.values()
            ]
            if all(is_like) and any(not isinstance(value, Mapping) for value in entries.values()):
                return path
    return None


def _misplaced(finding: Finding, model: type[BaseModel], data: Any) -> ManifestPath | None:
    """The path of the entry around a finding, if a section beside the mapping of entries has that name."""
    for mapping, _ in _mappings(finding, model, data):
        path, owner = tuple(finding.path[: len(mapping) + 1]), follow(model, mapping).owner
        field = owner.model_fields.get(str(path[-1])) if owner else None
        section = value_at(data, mapping[:-1])
        is_absent = isinstance(section, Mapping) and path[-1] not in section
        if field and is_absent and not _is_entry(model, path, data) and _is_like(field, value_at(data, path)):
            return path
    return None


def _outside(finding: Finding, model: type[BaseModel], data: Any) -> tuple[ManifestPath, ManifestPath] | None:
    """The path of the entry around a finding that is a key of the entry above it, and the path of that one."""
    for mapping, entries in _mappings(finding, model, data):
        path = tuple(finding.path[: len(mapping) + 1])
        entry, names = entry_of(follow(model, path).declared)[0], [*entries]
        if entry is None or path[-1] not in keys_of(entry) or _is_entry(model, path, data) or names[0] == path[-1]:
            continue
        neighbour = (*mapping, names[names.index(path[-1]) - 1])
        beside = value_at(data, neighbour)
        if beside is None or (isinstance(beside, Mapping) and path[-1] not in beside):
            return path, neighbour
    return None


def _is_entry(model: type[BaseModel], path: ManifestPath, data: Any) -> bool:
    """True if a section has keys of the entries that it stands among: a node type may be called `gpu`."""
    entry, value = entry_of(follow(model, path).declared)[0], value_at(data, path)
    return entry is None or (isinstance(value, Mapping) and (not value or any(key in value for key in keys_of(entry))))


def _is_like(section: Any, value: Any) -> bool:
    """True if a value may be that of a section: it has a key of it, or holds sections where names are keys."""
    model, is_list = entry_of(section)
    if isinstance(value, str) and model is not None:
        return False
    if isinstance(value, Mapping) and model is not None and not is_list:
        return any(key in value for key in keys_of(model))
    return not isinstance(value, Mapping) or all(isinstance(inner, Mapping) for inner in value.values())
