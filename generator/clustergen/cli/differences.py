"""What `render --check` found on disk: as text, and with the findings in the formats that programs read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clustergen.diagnostics import Diagnostic, render
from clustergen.diagnostics.github import command
from clustergen.diagnostics.machine import as_data
from clustergen.records import record
from clustergen.render.tree import Tree
from clustergen.render.write import Difference

RULE = "tree-out-of-date"
_SHOWN = 20
_ANNOTATIONS = 10  # of one kind that GitHub shows of one step
_WORDS = {
    "changed": "this file is not what the manifest renders to",
    "missing": "this file is missing",
    "mode": "this file has another mode",
    "left-over": "the manifest makes this file no more",
}


@record
class Stale:
    """A file of a tree that is not as rendered; `line` is the first that differs, 0: it is about the whole file."""

    manifest: str
    file: str
    kind: str
    line: int

    @property
    def message(self) -> str:
        return f"{_WORDS[self.kind]}: clustergen render {self.manifest}"


def stale(manifest: Path, folder: Path, tree: Tree, found: Sequence[Difference]) -> list[Stale]:
    """Differences with their places."""
    contents = tree.contents()
    return [
        Stale(str(manifest), str(folder / item.path), item.kind, _line(folder / item.path, contents.get(item.path)))
        for item in found
    ]


def _line(path: Path, made: tuple[bytes, int] | None) -> int:
    if made is None or not path.is_file():
        return 0
    there, wanted = path.read_bytes().split(b"\n"), made[0].split(b"\n")
    pairs = zip(there, wanted, strict=False)
    same = next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(there), len(wanted)))
    return 0 if there == wanted else min(same + 1, len(there))


def text(found: Sequence[Stale]) -> str:
    lines = [f"{item.file}: {item.kind}" for item in found[:_SHOWN]]
    if len(found) > _SHOWN:
        lines.append(f"… and {len(found) - _SHOWN} more")
    return "".join(f"{line}\n" for line in lines)


def document(form: str, diagnostics: Sequence[Diagnostic], found: Sequence[Stale]) -> str:
    """Findings and differences in one of the formats github, json and sarif."""
    if form == "github":
        return render(diagnostics, form) + _github(found)
    if form == "json":
        differences = [
            {"manifest": item.manifest, "file": item.file, "kind": item.kind, "line": item.line or None}
            for item in found
        ]
        return json.dumps({**as_data(diagnostics), "differences": differences}, indent=2, ensure_ascii=True) + "\n"
    return _sarif(diagnostics, found)


def _github(found: Sequence[Stale]) -> str:
    """The first ones as annotations; GitHub shows no more than ten of a kind, so the last tells how many there are."""
    shown = found if len(found) <= _ANNOTATIONS else found[: _ANNOTATIONS - 1]
    out = []
    for item in shown:
        # A file that is not there has no lines: the manifest is the place where somebody forgot to render.
        properties: dict[str, str | int] = {"file": item.manifest if item.kind == "missing" else item.file}
        if item.line:
            properties |= {"line": item.line}
        message = f"{item.file}: {item.message}" if item.kind == "missing" else item.message
        out.append(command("error", {**properties, "title": RULE}, message))
    if len(found) > len(shown):
        properties = {"file": found[-1].manifest, "title": RULE}
        out.append(command("error", properties, f"… and {len(found) - len(shown)} more files: {found[-1].message}"))
    return "".join(f"{line}\n" for line in out)


def _sarif(diagnostics: Sequence[Diagnostic], found: Sequence[Stale]) -> str:
    log: dict[str, Any] = json.loads(render(diagnostics, "sarif"))
    if found:
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
        for item in found:
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
                }
            )
    return json.dumps(log, indent=2, ensure_ascii=True) + "\n"
