"""The manifest without its mistakes, for checks of node types, which depend on no other section."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from clustergen.catalogue import slurm
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.diagnostics.model_path import follow
from clustergen.records import record

_MOST_ERRORS = 50
_MOST_ROUNDS = 6  # a required key goes with its entry, and that with its section
_INDEPENDENT = "node_types"
_PLANS = ("gpu", "mig_plans")
_REPLACEABLE = ("name", "os", "slurm")
"""Required keys of the top level that node types do not depend on."""


def _stand_in(key: str) -> Any:
    if key == "slurm":
        return {"version": str(max(slurm.read_releases()))}
    return {"name": "unnamed", "os": "debian-13"}[key]


@record
class Rest:
    """The data without values that no model takes. `removed` are their places in the whole manifest."""

    data: dict[str, Any]
    removed: frozenset[ManifestPath]

    def certain(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """The findings about node types that lack nothing."""
        for finding in findings if self._is_judgeable else ():
            entry = finding.path[:2]
            if finding.code == "mig-plan-unknown" and any(path[:2] == _PLANS for path in self.removed):
                continue  # the plan is there, but malformed
            if entry[0] == _INDEPENDENT and not any(path[:2] == entry for path in self.removed):
                yield finding

    @property
    def _is_judgeable(self) -> bool:
        """False where a section that node types may depend on is left out."""
        return all(path[0] != "catalogue" and (path[1:] or path[0] in _REPLACEABLE) for path in self.removed)


def rest_of(err: ValidationError, model: type[BaseModel], data: dict[str, Any], frozen: Any) -> Rest | None:
    """The data without the mistakes of `err`; None where a section that every manifest has is one of them.

    `frozen` makes lists into tuples, which is what `model` takes.
    """
    left = copy.deepcopy(data)
    removed: set[ManifestPath] = set()
    for _ in range(_MOST_ROUNDS):
        errors = err.errors(include_url=False)
        places = {_mistake(model, error) for error in errors}
        if len(errors) > _MOST_ERRORS or () in places:
            return None
        # From the end, so that the numbers of entries before it stay those of the file.
        for place in sorted(places, key=lambda path: [str(part).zfill(9) for part in path], reverse=True):
            if place[0] in _REPLACEABLE and len(place) == 1:
                left[str(place[0])] = _stand_in(str(place[0]))
            elif not _remove(left, place):
                return None
        removed |= places
        try:
            model.model_validate(frozen(left))
        except ValidationError as another:
            err = another
            continue
        return Rest(left, frozenset(removed))
    return None


def _mistake(model: type[BaseModel], error: Any) -> ManifestPath:
    """The value that is wrong; for a missing key the entry that lacks it."""
    at = follow(model, error["loc"])
    if error["type"] == "missing":
        return at.path[:-1] or at.path
    return at.branch[0] if at.branch else at.path


def _remove(data: Any, path: ManifestPath) -> bool:
    *above, last = path
    try:
        for part in above:
            data = data[part]
        del data[last]
    except (LookupError, TypeError):
        return False
    return True
