"""Diagnostics for programs, as JSON. The shape is a contract (`document`).

    {"version": 1,
     "diagnostics": [{"code": "key-unknown", "severity": "error", "message": "…", "hint": "…" or null,
                      "file": "manifest.yaml" or null,
                      "line": 14, "column": 9, "end_column": 12}],
     "suppressed": [{"code": …, the same keys, "suppression": {"kind": "comment" or "baseline", "reason": "…"}}],
     "counts": {"error": 1, "warning": 0, "info": 0}}

Lines and columns count from 1, in characters; `end_column` is the first behind the span. They are null where the file
as a whole, or no file at all, is meant. What is suppressed is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clustergen.diagnostics.codes import Severity
from clustergen.diagnostics.document import json_document
from clustergen.diagnostics.model import Diagnostic
from clustergen.diagnostics.suppressions import Suppressed


def as_data(diagnostics: Sequence[Diagnostic], suppressed: Sequence[Suppressed] = ()) -> dict[str, Any]:
    """The fields above without `version`, for a command that puts it into a larger one."""
    return {
        "diagnostics": [_one(diagnostic) for diagnostic in diagnostics],
        "suppressed": [
            {**_one(one.diagnostic), "suppression": {"kind": one.kind, "reason": one.reason}} for one in suppressed
        ],
        "counts": {str(kind): sum(1 for d in diagnostics if d.severity is kind) for kind in Severity},
    }


def render(diagnostics: Sequence[Diagnostic], suppressed: Sequence[Suppressed] = ()) -> str:
    return json_document(as_data(diagnostics, suppressed))


def _one(diagnostic: Diagnostic) -> dict[str, Any]:
    place = diagnostic.place
    inside = place is not None and place.line > 0
    return {
        "code": diagnostic.code,
        "severity": str(diagnostic.severity),
        "message": diagnostic.message,
        "hint": diagnostic.hint,
        "file": place.file if place else None,
        "line": place.line if place and inside else None,
        "column": place.column if place and inside else None,
        "end_column": place.end_column if place and inside else None,
    }
