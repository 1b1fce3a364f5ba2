"""Edits of a manifest's data: one value, key or entry that is another one, and several of them at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from clustergen.diagnostics import ManifestPath
from clustergen.records import record


@record
class Edit:
    """A change at a path; `tried` describes the new value.

    `replace` is `rename`, and the same where the name is a value.
    """

    path: ManifestPath
    does: Literal["set", "add", "rename", "replace", "drop"]
    tried: str
    value: Any = None  # set: the value; add: what a list or mapping gets besides; rename, replace: the new key


def edited(data: Any, edits: Iterable[Edit]) -> Any:
    """A copy of the data with all of the edits, one at most for a path; paths are those of the data as it was."""
    for edit in sorted(edits, key=lambda edit: _order(edit.path), reverse=True):  # so that none moves another's place
        data, holder = _copied_along(data, edit.path)
        key = edit.path[-1]
        if edit.does == "set":
            holder[key] = edit.value
        elif edit.does == "add":
            holder[key] = {**holder[key], **edit.value} if isinstance(edit.value, dict) else [*holder[key], *edit.value]
        elif edit.does == "drop":
            del holder[key]
        else:
            entries = [(edit.value if name == key else name, value) for name, value in holder.items()]
            holder.clear()
            holder.update(entries)
            if edit.does == "replace":
                data = _replaced(data, key, edit.value, holder[edit.value])
    return data


def _replaced(data: Any, old: object, new: object, named: Any) -> Any:
    """With another name where a value is the name, as a node's type is; not within what is named."""
    if data is named:
        return data
    if isinstance(data, dict):
        return {key: _replaced(value, old, new, named) for key, value in data.items()}
    if isinstance(data, list):
        return [_replaced(value, old, new, named) for value in data]
    return new if data == old else data


def _order(path: ManifestPath) -> tuple[tuple[bool, int | str], ...]:
    return tuple((isinstance(part, int), part) for part in path)


def _copied_along(data: Any, path: ManifestPath) -> tuple[Any, Any]:
    """A copy of the data along the path, and in it the container of the path's last part."""
    top = container = data.copy()
    for part in path[:-1]:
        below = container[part].copy() if not isinstance(container, dict) or part in container else {}
        container[part] = below
        container = below
    return top, container
