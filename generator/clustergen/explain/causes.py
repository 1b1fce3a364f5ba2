"""The causes of a line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clustergen.diagnostics import Place
from clustergen.diagnostics.model_path import value_at
from clustergen.manifest.source import Source
from clustergen.records import record, replace


@record
class Cause:
    """A field of the manifest that a line depends on, and a trial that showed it.

    `place` is None for a field that the manifest leaves out. `tried` is what was put in its place; `becomes` is then
    the line, None if it is gone or no single line replaces it. `valid`: the manifest of that trial is valid.
    """

    path: str
    kind: str
    place: Place | None
    text: str | None
    default: Any
    help: str
    tried: str
    becomes: str | None
    valid: bool


def as_written(causes: Iterable[Cause], source: Source) -> list[Cause]:
    """Causes with the paths of the file: of a node type that nodes get because they override fields, a field is one of
    their entry, or one of the type that the file has.
    """
    named: dict[tuple[str, str], Cause] = {}
    for cause in causes:
        path = path_of_override(cause.path, source) or cause.path
        named.setdefault((path, cause.kind), replace(cause, path=path))
    return list(named.values())


def path_of_override(path: str, source: Source) -> str | None:
    """The path in the file of a field of a node type that nodes get because they override fields; None for others."""
    for name, override in source.overrides.items():
        whole = f"node_types.{name}"
        if path != whole and not path.startswith(f"{whole}."):
            continue
        field = path[len(whole) + 1 :]
        entries = source.data["nodes"] if source.data else []
        entry = next((index for index, each in enumerate(entries) if each.get("name") == override.entry), None)
        base = value_at(source.data, ("node_types", override.base))
        is_of_base = field in ("system", "like") or (
            value_at(override.fields, field) is None and value_at(base, field) is not None
        )
        return f"node_types.{override.base}.{field}" if field and is_of_base else f"nodes[{entry}].{field}".rstrip(".")
    return None


def without_wholes(causes: list[Cause]) -> list[Cause]:
    """Without whole entries of which a part is a cause, too."""
    parts = [cause.path for cause in causes if cause.kind in ("value", "key")]
    return [cause for cause in causes if cause.kind != "entry" or not has_part(cause.path, parts)]


def has_part(whole: str, paths: Iterable[str]) -> bool:
    """True if one of the paths is within another one."""
    return any(path.startswith((f"{whole}.", f"{whole}[")) for path in paths)
