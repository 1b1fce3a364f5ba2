"""A baseline: the findings of a day, written to a file, which later runs leave out, so that only new ones count.

    {"version": 1, "findings": [{"file": "slurm.conf", "code": "priority-period", "message": "…", "count": 1}]}

A finding is recognised by file, code and message, not by its line: edits above it do not make it new. Files are named
as seen from the baseline's directory.
"""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from clustergen import regular_file
from clustergen.diagnostics.model import ClustergenError, Diagnostic
from clustergen.diagnostics.suppressions import Suppressed
from clustergen.diagnostics.words import printable
from clustergen.regular_file import reason_of

_LIMIT = 50_000_000
_MOST_ALIKE = 1_000_000_000
_INVALID = 2
_HINT = "--write-baseline writes it"
_OTHER = "name a file that --write-baseline wrote"
_Key = tuple[str, str, str]


def read(path: Path) -> Counter[_Key]:
    """How often the baseline has each finding. Raises ClustergenError for a file that is no baseline."""
    try:
        return _parsed(regular_file.read(path, _LIMIT, follow_links=True))
    except OSError as err:
        raise ClustergenError(printable(f"{path}: {reason_of(err)}"), _HINT) from None
    except ValueError:
        raise ClustergenError(printable(f"{path} is not a baseline of clustergen"), _OTHER) from None


def replaced_mode(path: Path) -> int | None:
    """The permissions of the baseline that a new one may replace; None where there is no file yet.

    Raises ClustergenError for whatever else is there, so that a slip of the command line costs no manifest.
    """
    try:
        with regular_file.opened(path) as (descriptor, status):
            _parsed(regular_file.content_of(descriptor, _LIMIT, path))
            return stat.S_IMODE(status.st_mode)
    except FileNotFoundError:
        return None
    except OSError as err:
        reason = reason_of(err)
    except ValueError:
        reason = "it is not a baseline of clustergen"
    message = printable(f"{path} is left as it is: {reason}")
    raise ClustergenError(message, "name a new file, or a baseline that may be replaced", _INVALID)


def _parsed(content: bytes) -> Counter[_Key]:
    """Raises ValueError for what `text` cannot have written."""
    try:
        document = json.loads(content)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(document, dict) or document.keys() != {"version", "findings"}:
        raise ValueError("not the keys of a baseline")
    rows = document["findings"]
    if document["version"] != 1 or not isinstance(rows, list):
        raise ValueError("another version, or no list")
    return Counter(dict(map(_entry, rows)))


def _entry(row: Any) -> tuple[_Key, int]:
    if not isinstance(row, dict) or row.keys() != {"file", "code", "message", "count"}:
        raise ValueError("not the keys of a finding")
    file, code, message, count = row["file"], row["code"], row["message"], row["count"]
    if not all(isinstance(one, str) for one in (file, code, message)):
        raise ValueError("not a text")
    if type(count) is not int or not 1 <= count <= _MOST_ALIKE:  # True is an int too
        raise ValueError("not a number of findings")
    return (file, code, message), count


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
            muted.append(Suppressed(diagnostic, "baseline", printable(f"in {path.name}")))
        else:
            kept.append(diagnostic)
    return kept, muted, sum(number for number in left.values() if number > 0)


def _key(diagnostic: Diagnostic, path: Path) -> _Key:
    file = diagnostic.place.file if diagnostic.place else ""
    return (os.path.relpath(file, path.parent) if file else "", diagnostic.code, diagnostic.message)
