"""A baseline: the findings of a day, written to a file, which later runs leave out, so that only new ones count.

    {"version": 1, "findings": [{"file": "slurm.conf", "code": "priority-period", "message": "…", "count": 1}]}

A finding is recognised by file, code and message, not by its line: edits above it do not make it new. Files are named
as seen from the baseline's directory.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from clustergen import regular_file
from clustergen.diagnostics.model import ClustergenError, Diagnostic
from clustergen.diagnostics.suppressions import Suppressed

_LIMIT = 50_000_000
_HINT = "--write-baseline writes it"
_Key = tuple[str, str, str]


def read(path: Path) -> Counter[_Key]:
    """How often the baseline has each finding. Raises ClustergenError for a file that is no baseline."""
    try:
        document = json.loads(regular_file.read(path, _LIMIT, follow_links=True))
        if document["version"] != 1:
            raise ValueError(document["version"])
        rows = document["findings"]
        return Counter({(str(row["file"]), str(row["code"]), str(row["message"])): int(row["count"]) for row in rows})
    except OSError as err:
        raise ClustergenError(f"{path}: {err.strerror or err}", _HINT) from None
    except (ValueError, KeyError, TypeError):
        raise ClustergenError(f"{path} is not a baseline of clustergen", _HINT) from None


def text(diagnostics: Iterable[Diagnostic], path: Path) -> str:
    """The baseline of these findings, for the file `path`."""
    counts = Counter(_key(diagnostic, path) for diagnostic in diagnostics)
    rows = [
        {"file": file, "code": code, "message": message, "count": number}
        for (file, code, message), number in sorted(counts.items())
    ]
    return json.dumps({"version": 1, "findings": rows}, indent=1) + "\n"


def apply(
    diagnostics: Sequence[Diagnostic], path: Path, may_suppress: Callable[[Diagnostic], bool]
) -> tuple[list[Diagnostic], list[Suppressed], int]:
    """The findings that are not in the baseline, those that are, and how many entries nothing matches any more."""
    left = read(path)
    kept: list[Diagnostic] = []
    muted: list[Suppressed] = []
    for diagnostic in diagnostics:
        key = _key(diagnostic, path)
        if left[key] > 0 and may_suppress(diagnostic):
            left[key] -= 1
            muted.append(Suppressed(diagnostic, "baseline", f"in {path.name}"))
        else:
            kept.append(diagnostic)
    return kept, muted, sum(number for number in left.values() if number > 0)


def _key(diagnostic: Diagnostic, path: Path) -> _Key:
    file = diagnostic.place.file if diagnostic.place else ""
    return (os.path.relpath(file, path.parent) if file else "", diagnostic.code, diagnostic.message)
