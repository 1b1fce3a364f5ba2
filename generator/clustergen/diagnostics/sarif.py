"""Diagnostics as SARIF 2.1.0 (OASIS), the format that code scanning services read.

A rule carries its page, so that a viewer shows the why and the examples without a network. Columns are counted in
characters, which SARIF calls `unicodeCodePoints`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote as percent_encode

from clustergen import __version__
from clustergen.diagnostics.codes import CODES, Code, Severity
from clustergen.diagnostics.model import Diagnostic, Place
from clustergen.diagnostics.pages import page
from clustergen.diagnostics.suppressions import Suppressed

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


_KINDS = {"comment": "inSource", "baseline": "external"}


def render(diagnostics: Sequence[Diagnostic], suppressed: Sequence[Suppressed] = ()) -> str:
    everything = [*diagnostics, *(one.diagnostic for one in suppressed)]
    rules = sorted({diagnostic.code for diagnostic in everything})
    index = {code: number for number, code in enumerate(rules)}
    results = [_result(diagnostic, index[diagnostic.code]) for diagnostic in everything]
    if suppressed:  # then every result has the list, an empty one if it is reported (SARIF 2.1.0, 3.27.23)
        for result in results[: len(diagnostics)]:
            result["suppressions"] = []
        for one, result in zip(suppressed, results[len(diagnostics) :], strict=True):
            result["suppressions"] = [{"kind": _KINDS[one.kind], "justification": one.reason}]
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "clustergen",
                        "semanticVersion": __version__,
                        "rules": [_rule(CODES[code]) for code in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=True) + "\n"


def _rule(code: Code) -> dict[str, Any]:
    markdown = page(code.code)
    help_text = {"text": f"clustergen explain {code.code}"}
    if markdown:
        help_text["markdown"] = markdown
    return {
        "id": code.code,
        "shortDescription": {"text": f"{code.title}."},
        "fullDescription": {"text": f"{code.title}. Why, with examples: clustergen explain {code.code}"},
        "help": help_text,
        "defaultConfiguration": {"level": _LEVELS[code.severity]},
    }


def _result(diagnostic: Diagnostic, rule_index: int) -> dict[str, Any]:
    message = diagnostic.message + (f"\nHint: {diagnostic.hint}" if diagnostic.hint else "")
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": message},
    }
    if diagnostic.place:
        result["locations"] = [{"physicalLocation": _location(diagnostic.place)}]
    return result


def _location(place: Place) -> dict[str, Any]:
    absolute = place.file.startswith("/")
    uri = percent_encode(place.file.encode("utf-8", "surrogateescape"), safe="/~")
    location: dict[str, Any] = {"artifactLocation": {"uri": f"file://{uri}" if absolute else uri}}
    if place.line:
        location["region"] = {
            "startLine": place.line,
            "startColumn": place.column,
            "endColumn": max(place.end_column, place.column),
        }
    return location
