"""The differences that `render --check` finds on disk: as text, and with the findings in machine-readable formats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clustergen import regular_file
from clustergen.diagnostics import Diagnostic, render
from clustergen.diagnostics.document import json_document
from clustergen.diagnostics.github import command
from clustergen.diagnostics.machine import as_data
from clustergen.diagnostics.suppressions import Suppressed
from clustergen.records import record
from clustergen.render.compare import Difference
from clustergen.render.lock_file import MARKERS, has_conflict
from clustergen.render.tree import FILE_LIMIT, Tree

RULE = "tree-out-of-date"
_SHOWN = 20
_ANNOTATIONS = 10  # of one kind that GitHub shows of one step
_WORDS = {
    "changed": "this file is not what the manifest renders to",
    "missing": "this file is missing",
    "mode": "this file has another mode",
    "blocked": "something other than a file is in the place of this file, or of its directory",
    "left-over": "the manifest makes this file no more",
    "kept": "the manifest makes this file no more; it was edited, so a render keeps it",
}


@record
class Stale:
    """A file of a tree that is not as rendered; `line` is the first that differs, 0: it is about the whole file."""

    manifest: str
    file: str
    kind: str
    line: int
    conflict: bool = False
    """True: it has the conflict markers of a merge."""

    @property
    def message(self) -> str:
        words = f"this file has {MARKERS}" if self.conflict else _WORDS[self.kind]
        return f"{words}: clustergen render {self.manifest}"


@record
class Result:
    """The result of a render of one manifest or several."""

    diagnostics: list[Diagnostic]
    suppressed: list[Suppressed]
    stale: list[Stale]


def stale(manifest: Path, directory: Path, tree: Tree, differences: Sequence[Difference]) -> list[Stale]:
    """Differences with their places."""
    contents = tree.contents()
    return [_stale(str(manifest), directory / item.path, item.kind, contents.get(item.path)) for item in differences]


def _stale(manifest: str, path: Path, kind: str, made: tuple[bytes, int] | None) -> Stale:
    try:
        content = regular_file.read(path, FILE_LIMIT) if made else b""
    except OSError:
        content = b""
    line = _line(content, made[0]) if made and content else 0
    return Stale(manifest, str(path), kind, line, has_conflict(content))


def _line(content: bytes, made: bytes) -> int:
    current, rendered = content.split(b"\n"), made.split(b"\n")
    pairs = zip(current, rendered, strict=False)
    same = next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(current), len(rendered)))
    return 0 if current == rendered else min(same + 1, len(current))


def text(stale_files: Sequence[Stale]) -> str:
    lines = [f"{item.file}: {item.kind}{f', has {MARKERS}' if item.conflict else ''}" for item in stale_files[:_SHOWN]]
    if len(stale_files) > _SHOWN:
        lines.append(f"… and {len(stale_files) - _SHOWN} more")
    return "".join(f"{line}\n" for line in lines)


def document(form: str, result: Result) -> str:
    """Findings and differences in one of the formats github, json and sarif."""
    stale_files = result.stale
    if form == "github":
        return render(result.diagnostics, form) + _github(stale_files)
    if form == "json":
        differences = [
            {"manifest": item.manifest, "file": item.file, "kind": item.kind, "line": item.line or None}
            for item in stale_files
        ]
        return json_document({**as_data(result.diagnostics, result.suppressed), "differences": differences})
    return _sarif(result)


def _github(stale_files: Sequence[Stale]) -> str:
    """The first ones as annotations; GitHub shows no more than ten of a kind, so the last tells how many there are."""
    shown = stale_files if len(stale_files) <= _ANNOTATIONS else stale_files[: _ANNOTATIONS - 1]
    out = []
    for item in shown:
        # A file that is not there has no lines: the manifest is the place where somebody forgot to render.
        properties: dict[str, str | int] = {"file": item.manifest if item.kind == "missing" else item.file}
        if item.line:
            properties |= {"line": item.line}
        message = f"{item.file}: {item.message}" if item.kind == "missing" else item.message
        out.append(command("error", {**properties, "title": RULE}, message))
    if len(stale_files) > len(shown):
        properties = {"file": stale_files[-1].manifest, "title": RULE}
        out.append(
            command("error", properties, f"… and {len(stale_files) - len(shown)} more files: {stale_files[-1].message}")
        )
    return "".join(f"{line}\n" for line in out)


def _sarif(result: Result) -> str:
    log: dict[str, Any] = json.loads(render(result.diagnostics, "sarif", suppressed=result.suppressed))
    if result.stale:
        run = log["runs"][0]
        rules = run["tool"]["driver"]["rules"]
        rules.append(
            {
                "id": RULE,
                "shortDescription": {"text": "The committed tree is not what its manifest renders to."},
                "help": {"text": "clustergen render MANIFEST, and commit the tree."},
                "defaultConfiguration": {"level": "error"},
            }
        )
        for item in result.stale:
            place: dict[str, Any] = {
                "artifactLocation": {"uri": item.manifest if item.kind == "missing" else item.file}
            }
            if item.line:
                place["region"] = {"startLine": item.line}
            run["results"].append(
                {
                    "ruleId": RULE,
                    "ruleIndex": len(rules) - 1,
                    "level": "error",
                    "message": {"text": f"{item.file}: {item.message}"},
                    "locations": [{"physicalLocation": place}],
                    **({"suppressions": []} if result.suppressed else {}),
                }
            )
    return json.dumps(log, indent=2, ensure_ascii=True) + "\n"
