"""One file, rendered again with one thing changed: which of its lines are then others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from clustergen import compile as compiler
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import CODES, Finding, Severity
from clustergen.records import record
from clustergen.render.registry import File
from clustergen.render.tree import RenderedFile


@record
class Made:
    """A file of a trial, or None where there is none then; `valid` where it is another one and no rule has anything
    against the manifest."""

    lines: tuple[str, ...] | None
    valid: bool


class Kitchen:
    """Renders one file from any document; `row` is the registry's row that makes it, `old` what it is so far."""

    def __init__(self, manifest_name: str, row: File, path: str, target: str | None, old: tuple[str, ...]) -> None:
        self.old = old
        self.manifest_name = manifest_name
        self.row = row
        self.path = path
        self.target = target

    def make(self, data: Any) -> Made | None:
        """None where the document is no manifest, or a view cannot do with it."""
        try:
            cluster, findings = resolved(data)
            if cluster is None:
                return None
            files = built(cluster, self.manifest_name, self.row)
        except Exception:  # noqa: BLE001 - what no rule has passed may break any view; such a trial tells nothing
            return None
        found = files.get(self.path) or next(
            (file for file in files.values() if self.target is not None and file.target == self.target), None
        )
        lines = lines_of(found.content) if found else None
        # Rules take as long as all else, so they are asked only about trials that show something.
        return Made(lines, lines != self.old and is_valid(cluster, findings))


def resolved(data: Any) -> tuple[Cluster | None, list[Finding]]:
    """The cluster of a document, None where it has not a manifest's shape, with what was found on the way."""
    from pydantic import ValidationError

    from clustergen.cluster import resolve
    from clustergen.manifest.model import Manifest

    findings: list[Finding] = []
    try:
        return resolve(Manifest.model_validate(compiler.frozen(data)), findings.append), findings
    except ValidationError:
        return None, findings


def is_valid(cluster: Cluster, findings: Sequence[Finding]) -> bool:
    """Whether no rule has an error to tell; a rule that such a cluster breaks has one too."""
    from clustergen.rules import check

    try:
        told = [*findings, *check(cluster)]
    except Exception:  # noqa: BLE001 - rules count on what others have refused, which a trial does not wait for
        return False
    return not any(CODES[found.code].severity is Severity.ERROR for found in told)


def built(cluster: Cluster, manifest_name: str, row: File) -> dict[str, RenderedFile]:
    """The files that one row of the registry makes."""
    from clustergen.render.build import Builder

    builder = Builder(cluster, manifest_name)
    if row.per != "tree":
        return builder.build(row)
    builder.build()
    builder.finish()
    return builder.files


def lines_of(content: bytes) -> tuple[str, ...]:
    return tuple(content.decode("utf-8", "replace").splitlines())


def changed(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, str | None]]:
    """The lines of `old`, counted from 0, that `new` has not, with what stands in their place where that is clear."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag in ("replace", "delete"):
            alike = i2 - i1 == j2 - j1
            for offset in range(i2 - i1):
                yield start + i1 + offset, right[j1 + offset] if alike else None
