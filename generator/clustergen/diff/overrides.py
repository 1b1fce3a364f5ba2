"""Changed values as the manifest has them where nodes override fields of their type: the entry and its field, and not
the node type that they get.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from clustergen.diagnostics import ManifestPath
from clustergen.diagnostics.model_path import value_at
from clustergen.diff.manifest_changes import ManifestChange, differing, label, text_at
from clustergen.manifest.layers import Override
from clustergen.manifest.source import Source
from clustergen.records import replace
from clustergen.render.yaml_flow import flow

InFile = Mapping[ManifestChange, tuple[ManifestChange, ...]]


def as_in_file(edits: Sequence[ManifestChange], old: Source, new: Source) -> InFile:
    """For each edit that concerns a node type of overridden fields, what the manifest has in its place."""
    if not old.overrides and not new.overrides:
        return {}
    in_file: dict[ManifestChange, tuple[ManifestChange, ...]] = {}
    of_types: dict[str, list[ManifestChange]] = {}
    for edit in edits:
        if edit.path[0] == "nodes" and len(edit.path) == 2:
            in_file[edit] = (_whole(edit, old, new),)
        elif edit.path[0] == "nodes" and edit.path[2:] == ("type",):
            sides = [_type(source, path) for source, path in ((old, edit.old_path), (new, edit.path))]
            if any(override for _, override in sides):
                in_file[edit] = tuple(_of_entry(edit, old, new))
                for name, _ in sides:
                    of_types.setdefault(name, []).extend(in_file[edit])
    of_others = [edit for edit in edits if edit.path[0] == "node_types" and _override(edit, old, new) is None]
    by_place = {edit.place: edit for edit in of_others}
    for edit in edits:
        override = _override(edit, old, new)
        if override is not None and (len(edit.path) == 2 or edit.path[2:] == ("like",)):
            in_file[edit] = tuple(of_types.get(str(edit.path[1]), ()))
        elif override is not None and (base := by_place.get(edit.place)) is not None:
            in_file[edit] = (base,)
        elif override is not None:
            rest = ".".join(map(str, edit.path[2:]))
            in_file[edit] = (replace(edit, label=f"nodes[{override.entry}].{rest}"),)
    return in_file


def mapped(values: Iterable[ManifestChange], in_file: InFile) -> tuple[ManifestChange, ...]:
    """The values, each once, with what the manifest has in their place."""
    return tuple(dict.fromkeys(one for value in values for one in in_file.get(value, (value,))))


def _override(edit: ManifestChange, old: Source, new: Source) -> Override | None:
    if edit.path[0] != "node_types" or len(edit.path) < 2:
        return None
    return (old if edit.new is None else new).overrides.get(str(edit.path[1]))


def _type(source: Source, path: ManifestPath | None) -> tuple[str, Override | None]:
    name = str(value_at(source.data, path)) if path is not None else ""
    return name, source.overrides.get(name)


def _whole(edit: ManifestChange, old: Source, new: Source) -> ManifestChange:
    """An entry that came or went, with the type and the fields that it has in the file."""
    source = old if edit.new is None else new
    entry = value_at(source.data, edit.path)
    override = source.overrides.get(str(entry.get("type"))) if isinstance(entry, dict) else None
    if override is None:
        return edit
    text = flow({**entry, "type": override.base, **override.fields})
    return replace(edit, old=text) if edit.new is None else replace(edit, new=text)


def _of_entry(edit: ManifestChange, old: Source, new: Source) -> Iterator[ManifestChange]:
    """The type of an entry, if it is another one, and the fields that it overrides now or did."""
    (before, former), (after, latter) = _type(old, edit.old_path), _type(new, edit.path)
    bases = former.base if former else before, latter.base if latter else after
    entry = edit.path[:2]
    if bases[0] != bases[1]:
        yield replace(edit, old=bases[0], new=bases[1])
    fields: list[dict[str, Any]] = [override.fields if override else {} for override in (former, latter)]
    for old_path, new_path in differing(fields[0], fields[1], (), ()):
        rest = old_path if new_path is None else new_path
        assert rest is not None
        source, name = (old, before) if new_path is None else (new, after)
        yield ManifestChange(
            path=(*entry, *rest),
            label=f"{label(new.data, entry)}.{'.'.join(map(str, rest))}",
            old=None if old_path is None else text_at(old, ("node_types", before, *old_path)),
            new=None if new_path is None else text_at(new, ("node_types", after, *new_path)),
            place=source.place(("node_types", name, *rest), key=new_path is None or old_path is None),
            old_path=None if old_path is None else (*(edit.old_path or entry)[:2], *old_path),
        )
