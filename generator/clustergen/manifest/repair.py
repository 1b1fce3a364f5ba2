"""A manifest as it was probably meant: what its shape hides from the rules is then reported in the same run."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from clustergen.diagnostics import Finding, ManifestPath, suggest
from clustergen.diagnostics.model_path import Located, follow, keys_of
from clustergen.records import record, replace

_MOST_ERRORS = 50


@record
class Repair:
    """The data after all mistakes were put right, or left out."""

    data: dict[str, Any]
    renamed: dict[ManifestPath, str]
    """Path of a key → the key as the file has it."""
    uncertain: frozenset[ManifestPath]
    """Sections of which a key was left out: what they lack may be that key."""

    def certain(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """The findings that do not follow from what was left out, with paths as in the file."""
        for finding in findings:
            if not any(_may_lack(finding, section) for section in self.uncertain):
                yield replace(finding, path=self._original(finding.path))

    def _original(self, path: ManifestPath) -> ManifestPath:
        return tuple(self.renamed.get(path[: end + 1], part) for end, part in enumerate(path))


def _may_lack(finding: Finding, section: ManifestPath) -> bool:
    """True if a finding may follow from a key that was left out of a section."""
    is_inside = finding.path[: len(section)] == section
    return is_inside or (finding.code == "hardware-incomplete" and section[: len(finding.path)] == finding.path)


def repaired(
    err: ValidationError,
    model: type[BaseModel],
    data: dict[str, Any],
    text_of: Callable[[ManifestPath], str | None],
    hint: Callable[[ManifestPath], str | None],
) -> Repair | None:
    """The data with misspelt keys renamed, other unknown keys left out, and numbers as the text that a field requires.

    None where another mistake leaves open what was meant, or an unknown key of the top level does. `hint` knows keys
    that people call otherwise: no guess by spelling takes their place.
    """
    errors = err.errors(include_url=False)
    if len(errors) > _MOST_ERRORS:
        return None
    changed = copy.deepcopy(data)
    renamed: dict[ManifestPath, str] = {}
    uncertain: set[ManifestPath] = set()
    missing: set[ManifestPath] = set()
    keys: dict[tuple[int, int | str], str | None] = {}
    for error in errors:
        at = follow(model, error["loc"])
        section = _section(changed, at.path[:-1])
        if at.branch is not None or section is None:
            return None
        if error["type"] == "extra_forbidden":
            key = id(section), at.path[-1]
            if key not in keys:  # node types that are alike share sections, which have the error once for each
                keys[key] = _meant(at, section, hint(at.path))
                value = section.pop(at.path[-1])
                section |= {keys[key]: value} if keys[key] else {}
            if meant := keys[key]:
                renamed[*at.path[:-1], meant] = str(at.path[-1])
            elif len(at.path) == 1:
                return None
            else:
                uncertain.add(at.path[:-1])
        elif error["type"] == "missing":
            missing.add(at.path)
        elif error["type"] == "string_type" and (text := text_of(at.path)) and type(error["input"]) in (int, float):
            section[at.path[-1]] = text
        else:
            return None
    return Repair(changed, renamed, frozenset(uncertain)) if missing <= renamed.keys() else None


def _meant(at: Located, section: dict[Any, Any], hint: str | None) -> str | None:
    keys = keys_of(at.owner) if at.owner else []
    if hint is not None:
        name = hint.removeprefix("write ")
        return name if name in keys and name not in section else None
    return suggest(str(at.path[-1]), [key for key in keys if key not in section])


def _section(data: Any, path: ManifestPath) -> dict[Any, Any] | None:
    """The section at a path; None where it is no mapping, or a key above it was renamed."""
    for part in path:
        try:
            data = data[part]
        except (LookupError, TypeError):
            return None
    return data if isinstance(data, dict) else None
