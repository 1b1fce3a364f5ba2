"""One file, rendered again with one thing changed, and the lines that differ then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property, partial

from clustergen.cluster.model import Cluster
from clustergen.cluster.resolve import resolve
from clustergen.cluster.tracing import listening
from clustergen.diagnostics import CODES, Finding, Severity
from clustergen.explain.producers import Producer
from clustergen.explain.reads import Fact, Reads, reading, record_types
from clustergen.explain.reuse import Reuse
from clustergen.manifest.model import Manifest
from clustergen.records import fields, replace
from clustergen.render.tree import RenderedFile
from clustergen.rules import findings_of, rules

_FILE = "file"


class Judge:
    """Finds what is wrong with a manifest. Similar trials break the same rule: the last one broken is tried first."""

    def __init__(self, original: Manifest, cluster: Cluster, reads: Reads) -> None:
        """The rules pass on this cluster."""
        self._rules = list(rules())
        with reading(reads):
            for rule in self._rules:
                reads.value((rule,), partial(list, findings_of(rule, cluster, original)))

    def refuses(self, cluster: Cluster, manifest: Manifest, findings: Sequence[Finding], reuse: Reuse) -> str | None:
        """The code of an error among `findings`, or else of a rule's; the type of the exception that ends a rule."""
        if code := _error(findings):
            return code
        with listening(reuse):
            for rule in self._rules:
                if reuse.keeps((rule,)):
                    continue
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

    def __init__(self, lines: tuple[str, ...] | None, refused: Callable[[], str | None]) -> None:
        self.lines = lines
        self._refused = refused

    @cached_property
    def refused(self) -> str | None:
        """The code of what is wrong with the manifest; None for a valid one. Asking then takes as long as a trial."""
        return self._refused()

    @property
    def valid(self) -> bool:
        return self.refused is None


class Renderer:
    """Renders one file of a tree from any manifest. `whole` are the paths of all that its producer makes."""

    def __init__(self, producer: Producer, file: RenderedFile) -> None:
        self.producer = producer
        self.file = file
        self.whole: frozenset[str] = frozenset()

    def start(self, cluster: Cluster) -> tuple[str, ...]:
        """The file as it is."""
        files = self.producer(cluster)
        self.whole = frozenset(files)
        return lines_of(files[self.file.path].content)

    def lines(self, cluster: Cluster) -> tuple[str, ...] | None:
        """The file of another cluster; None where it has none."""
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


class Trials:
    """Trials of one file: what was read for it is noted once, and only what has changed is made again."""

    def __init__(self, renderer: Renderer, original: Manifest, like: Cluster) -> None:
        """`like`: a cluster with records of the same types."""
        self._renderer = renderer
        self._original = original
        self.reads = Reads(set().union(*(record_types(getattr(like, name)) for name in fields(Cluster))))
        with reading(self.reads):
            self._cluster = resolve(original, lambda _: None)
            self.meaning = self.reads.facts()
            self.lines: tuple[str, ...] = self.reads.value(_FILE, lambda: renderer.start(self._cluster))
        self.read = self.reads.behind(_FILE)

    @cached_property
    def _judge(self) -> Judge:
        return Judge(self._original, self._cluster, self.reads)

    def make(self, manifest: Manifest | None = None, facts: Iterable[Fact] = ()) -> Trial | None:
        """The file of another manifest, or by other `facts` of the catalogue; None where a view raises an error."""
        manifest = manifest or self._original
        reuse = Reuse(self.reads, self._original, manifest, facts)
        findings: list[Finding] = []
        try:
            with listening(reuse):
                is_same = manifest is self._original and self.meaning.isdisjoint(reuse.changed)
                cluster = replace(self._cluster) if is_same else resolve(manifest, findings.append)
                lines = self.lines if reuse.keeps(_FILE) else self._renderer.lines(cluster)
        except Exception:  # noqa: BLE001 - what no rule has passed may break anything; such a trial shows nothing
            return None
        return Trial(lines, lambda: self._judge.refuses(cluster, manifest, findings, reuse))


def lines_of(content: bytes) -> tuple[str, ...]:
    return tuple(content.decode("utf-8", "replace").splitlines())


def changed(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, str | None]]:
    """The lines of `old`, counted from 0, that `new` lacks, with the line in their place where that is clear."""
    start, end = _alike(old, new)
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag in ("replace", "delete"):
            alike = i2 - i1 == j2 - j1
            # Beside a line that comes or goes, one of the same name is another value of it.
            names = Counter(map(_name, right[j1:j2]))
            named = {_name(line): line for line in right[j1:j2] if names[_name(line)] == 1}
            for offset in range(i2 - i1):
                yield start + i1 + offset, right[j1 + offset] if alike else named.get(_name(left[i1 + offset]))


def _name(line: str) -> str:
    """`key` of the line `key: value`."""
    return line.partition(": ")[0]


def changed_of(old: Sequence[str], new: Sequence[str], asked: Sequence[int]) -> list[int]:
    """The lines asked for that differ."""
    start, end = _alike(old, new)
    if not any(start <= index < len(old) - end for index in asked):
        return []
    indexes = {index for index, _ in changed(old, new)}
    return [index for index in asked if index in indexes]


def _alike(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines at the start, and how many at the end, are the same."""
    shorter = min(len(old), len(new))
    start = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    return start, next((n for n in range(shorter - start) if old[-1 - n] != new[-1 - n]), shorter - start)
