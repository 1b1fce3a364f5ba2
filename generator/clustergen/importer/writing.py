"""The draft as YAML: sections in the manifest's order, small things on one line, comments where they belong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from clustergen.diagnostics import ManifestPath
from clustergen.diagnostics.model_path import is_model
from clustergen.importer.comments import readable
from clustergen.importer.draft import Draft
from clustergen.importer.todo import todo_lines
from clustergen.manifest.model import Manifest
from clustergen.render.formats import yaml_scalar
from clustergen.render.yaml_flow import flow

_WIDTH = 118


def manifest_text(draft: Draft) -> str:
    """The manifest's text."""
    data = draft.data()
    comments = _Comments(draft)
    data = _ordered(data, Manifest)
    lines = [*(_comment(words, 0) for words in draft.head)]
    for key, value in data.items():
        if lines and isinstance(value, dict | list):
            lines.append("")
        lines += _entry((key,), value, comments, 0)
    tail = [*draft.tail, *draft.unclaimed()]
    lines += [*(["", "# Other comments of the files:"] if tail else []), *(_comment(words, 0) for words in tail)]
    todo = list(todo_lines(draft))
    lines += [*([""] if todo else []), *(_comment(words, 0) for words in todo)]
    return "\n".join(lines) + "\n"


class _Comments:
    """The comments, by the path that they belong to."""

    def __init__(self, draft: Draft | None) -> None:
        self._of: dict[ManifestPath, list[str]] = {}
        self._below: dict[ManifestPath, list[str]] = {}
        for path, item in draft.items.items() if draft else ():
            if item.comments:
                self._of[path] = item.comments
                for end in range(1, len(path) + 1):
                    self._below.setdefault(path[:end], []).extend(item.comments)

    def of(self, path: ManifestPath) -> list[str]:
        return self._of.get(path, [])

    def below(self, path: ManifestPath) -> list[str]:
        """The comments of the path and of all inside it."""
        return self._below.get(path, [])


def _ordered(data: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """The keys of a section in the order of its fields."""
    ordered = {}
    for name, spec in model.model_fields.items():
        if name not in data:
            continue
        value, kind = data[name], spec.annotation
        members = [part for part in get_args(kind) if is_model(part)]
        if is_model(kind):
            value = _ordered(value, kind)
        elif members and isinstance(value, dict) and get_origin(kind) is dict:
            value = {key: _ordered(inner, members[0]) for key, inner in value.items()}
        elif members and isinstance(value, list):
            value = [_ordered(inner, members[0]) for inner in value]
        ordered[name] = value
    return ordered


def _comment(words: str, indent: int) -> str:
    text = "".join(char if char.isprintable() else " " for char in readable(words))
    return f"{' ' * indent}# {text}".rstrip()


def _entry(path: ManifestPath, value: Any, comments: _Comments, indent: int) -> Iterator[str]:
    """A key with its value."""
    pad = " " * indent
    yield from (_comment(words, indent) for words in comments.of(path))
    key = _scalar(path[-1])
    text = flow(value, _scalar)
    fits = len(pad) + len(key) + len(text) + 2 <= _WIDTH
    if not isinstance(value, dict | list) or not value or (fits and _is_small(path, value, comments)):
        yield f"{pad}{key}: {text}"
    elif isinstance(value, dict):
        yield f"{pad}{key}:"
        for name, inner in value.items():
            yield from _entry((*path, name), inner, comments, indent + 2)
    else:
        yield f"{pad}{key}:"
        for index, inner in enumerate(value):
            yield from _listed((*path, index), inner, comments, indent + 2)


def _listed(path: ManifestPath, value: Any, comments: _Comments, indent: int) -> Iterator[str]:
    """A member of a list; what is said of its parts stands above it."""
    pad = " " * indent
    yield from (_comment(words, indent) for words in comments.below(path))
    text = flow(value, _scalar)
    if not isinstance(value, dict) or len(text) + len(pad) + 2 <= _WIDTH:
        yield f"{pad}- {text}"
        return
    start = "- "
    for name, inner in value.items():
        lines = list(_entry((*path, name), inner, _Comments(None), indent + 2))
        yield pad + start + lines[0].lstrip()
        yield from lines[1:]
        start = "  "


def _is_small(path: ManifestPath, value: Any, comments: _Comments) -> bool:
    """True if it goes on one line: nothing is said inside, and no list of things is among it."""
    if len(comments.below(path)) > len(comments.of(path)):
        return False
    if isinstance(value, list):
        return not any(isinstance(inner, dict) for inner in value)
    top = (
        len(path) < 2
        or path[-1] in ("options", "partitions")
        or (len(path) == 2 and path[0] == "slurm" and len(value) > 3)
    )
    if top:
        return len(value) < 2 and not any(isinstance(inner, dict) for inner in value.values())
    return not any(isinstance(inner, list) and any(isinstance(one, dict) for one in inner) for inner in value.values())


def _scalar(value: Any) -> str:
    return yaml_scalar(readable(value) if isinstance(value, str) else value)
