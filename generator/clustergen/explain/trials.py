"""One file, rendered again with one thing changed, and the lines that differ then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property

from clustergen.cluster.model import Cluster
from clustergen.cluster.resolve import resolve
from clustergen.diagnostics import CODES, Finding, Severity
from clustergen.explain.producers import Producer
from clustergen.manifest.model import Manifest
from clustergen.render.tree import RenderedFile
from clustergen.rules import findings_of, rules


class Judge:
    """Finds what is wrong with a manifest. Similar trials break the same rule: the last one broken is tried first."""

    def __init__(self) -> None:
        self._rules = list(rules())

    def refuses(self, cluster: Cluster, manifest: Manifest, findings: Sequence[Finding]) -> str | None:
        """The code of an error among `findings`, or else of a rule's; the type of the exception that ends a rule."""
        if code := _error(findings):
            return code
        for rule in self._rules:
            try:
                code = _error(findings_of(rule, cluster, manifest))
            except Exception as err:  # noqa: BLE001 - rules count on what others refuse, which a trial does not wait for
                code = type(err).__name__
            if code:
                self._rules.remove(rule)
                self._rules.insert(0, rule)
                return code
        return None


def _error(findings: Iterable[Finding]) -> str | None:
    return next((finding.code for finding in findings if CODES[finding.code].severity is Severity.ERROR), None)


class Trial:
    """A file rendered from another manifest: its lines, or None where that manifest has no such file."""

    def __init__(
        self,
        lines: tuple[str, ...] | None,
        cluster: Cluster,
        manifest: Manifest,
        findings: Sequence[Finding],
        judge: Judge,
    ) -> None:
        self.lines = lines
        self._meant = cluster, manifest, findings
        self._judge = judge

    @cached_property
    def refused(self) -> str | None:
        """The code of what is wrong with the manifest; None for a valid one. Asking then takes as long as a trial."""
        return self._judge.refuses(*self._meant)

    @property
    def valid(self) -> bool:
        return self.refused is None


class Renderer:
    """Renders one file of a tree from any manifest. `whole` are the paths of all that its producer makes."""

    def __init__(self, producer: Producer, file: RenderedFile) -> None:
        self.producer = producer
        self.file = file
        self.judge = Judge()
        self.whole: frozenset[str] = frozenset()

    def start(self, cluster: Cluster) -> tuple[str, ...]:
        """The file as it is."""
        files = self.producer(cluster)
        self.whole = frozenset(files)
        return lines_of(files[self.file.path].content)

    def make(self, manifest: Manifest) -> Trial | None:
        """The file of another manifest, by what the catalogue says now; None where a view raises an error."""
        findings: list[Finding] = []
        try:
            cluster = resolve(manifest, findings.append)
        except Exception:  # noqa: BLE001 - what no rule has passed may break anything; such a trial shows nothing
            return None
        return self.print(cluster, manifest, findings)

    def print(self, cluster: Cluster, manifest: Manifest, findings: Sequence[Finding] = ()) -> Trial | None:
        """The file of the cluster that a manifest means, with `findings` so far."""
        try:
            return Trial(self._lines(cluster), cluster, manifest, findings, self.judge)
        except Exception:  # noqa: BLE001 - as above
            return None

    def _lines(self, cluster: Cluster) -> tuple[str, ...] | None:
        files = self.producer(cluster)
        file = files.get(self.file.path) or self._moved(files)
        return lines_of(file.content) if file else None

    def _moved(self, files: Mapping[str, RenderedFile]) -> RenderedFile | None:
        """The same file for other nodes, or under the one name that was not there before."""
        for file in files.values():
            if file.target is not None and file.target == self.file.target:
                return file
        new = [file for path, file in files.items() if path not in self.whole]
        return new[0] if len(new) == 1 else None


def lines_of(content: bytes) -> tuple[str, ...]:
    return tuple(content.decode("utf-8", "replace").splitlines())


def changed(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, str | None]]:
    """The lines of `old`, counted from 0, that `new` lacks, with the line in their place where that is clear."""
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


def changed_of(old: Sequence[str], new: Sequence[str], asked: Sequence[int]) -> list[int]:
    """The lines asked for that differ."""
    indexes = {index for index, _ in changed(old, new)}
    return [index for index in asked if index in indexes]
