"""One file, rendered again with one thing changed: which of its lines are then others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from typing import TYPE_CHECKING, Any

from clustergen import compile as compiler
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import CODES, Finding, Severity
from clustergen.explain.recipes import Recipe
from clustergen.render.tree import RenderedFile

if TYPE_CHECKING:
    from clustergen.manifest.model import Manifest


class Made:
    """What a trial makes of a file: its lines, or None where there is none then."""

    def __init__(self, lines: tuple[str, ...] | None, cluster: Cluster, findings: Sequence[Finding]) -> None:
        self.lines = lines
        self._meant = cluster, findings

    @cached_property
    def valid(self) -> bool:
        """Whether no rule has anything against the manifest. Asking takes as long as a trial."""
        return is_valid(*self._meant)


class Kitchen:
    """Renders one file of a tree from any data. `whole` are the paths of all that its recipe makes."""

    def __init__(self, recipe: Recipe, file: RenderedFile) -> None:
        self.recipe = recipe
        self.file = file
        self.whole: frozenset[str] = frozenset()

    def start(self, cluster: Cluster) -> tuple[str, ...]:
        """The file as it is."""
        files = self.recipe(cluster)
        self.whole = frozenset(files)
        return lines_of(files[self.file.path].content)

    def make(self, data: Any) -> Made | None:
        """None where the data is no manifest, or a view cannot do with it."""
        from pydantic import ValidationError

        try:
            return self.of(manifest_of(data))
        except ValidationError:
            return None

    def of(self, manifest: Manifest) -> Made | None:
        """The same from a manifest, by what the catalogue says now."""
        from clustergen.cluster import resolve

        findings: list[Finding] = []
        try:
            cluster = resolve(manifest, findings.append)
            return Made(self._lines(cluster), cluster, findings)
        except Exception:  # noqa: BLE001 - what no rule has passed may break any view; such a trial tells nothing
            return None

    def _lines(self, cluster: Cluster) -> tuple[str, ...] | None:
        files = self.recipe(cluster)
        found = files.get(self.file.path) or self._moved(files)
        return lines_of(found.content) if found else None

    def _moved(self, files: Mapping[str, RenderedFile]) -> RenderedFile | None:
        """The same file for other nodes, or under the one name that was not there before."""
        for file in files.values():
            if file.target is not None and file.target == self.file.target:
                return file
        new = [file for path, file in files.items() if path not in self.whole]
        return new[0] if len(new) == 1 else None


def manifest_of(data: Any) -> Manifest:
    """ValidationError where the data has not a manifest's shape."""
    from clustergen.manifest.model import Manifest

    return Manifest.model_validate(compiler.frozen(data))


def is_valid(cluster: Cluster, findings: Sequence[Finding]) -> bool:
    """Whether no rule has an error to tell; a rule that such a cluster breaks has one too."""
    from clustergen.rules import check

    try:
        told = [*findings, *check(cluster)]
    except Exception:  # noqa: BLE001 - rules count on what others have refused, which a trial does not wait for
        return False
    return not any(CODES[found.code].severity is Severity.ERROR for found in told)


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
