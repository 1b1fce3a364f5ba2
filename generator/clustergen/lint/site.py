"""The input of the checks: the files of a directory, the release, nodes and partitions; and how a finding is made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import Diagnostic, Place, Severity, printable, shortened
from clustergen.hostlist import HostlistError, expand
from clustergen.lint.finding import Fix, LintFinding
from clustergen.slurmconf.config import Config, Entry, Setting
from clustergen.slurmconf.directory import ConfigDirectory
from clustergen.slurmconf.grammar import Line, Span
from clustergen.slurmrules import Outcome, Remark
from clustergen.slurmrules.conf import Conf

_OUTSIDE_BRACKETS = re.compile(r"[^\[\]]*+\]?")
SEVERITY = {
    Outcome.STOPS: Severity.ERROR,
    Outcome.LOGS: Severity.WARNING,
    Outcome.SILENT: Severity.WARNING,
    Outcome.ADVICE: Severity.INFO,
}


class Spot(NamedTuple):
    """A span of a file, as `Line.file` calls it."""

    file: str
    at: Span


class Site(Conf):
    """The files under test. `slurm` is the slurm.conf; None where only others are there."""

    def __init__(self, directory: ConfigDirectory, release: SlurmRelease) -> None:
        self.directory = directory
        self.release = release
        self.slurm: Config | None = directory.config("slurm.conf")
        self._lines: dict[str, list[str]] = {}

    def lines(self, file: str) -> list[str]:
        """The physical lines of a file that was read."""
        if file not in self._lines:
            self._lines[file] = self.directory.texts.get(file, "").split("\n")
        return self._lines[file]

    # what slurm.conf says

    def setting(self, *keys: str, file: str = "slurm.conf") -> Setting | None:
        config = self.directory.config(file)
        return config.value(*keys) if config else None

    def stated(self, key: str, file: str = "slurm.conf") -> str | None:
        setting = self.setting(key, file=file)
        return setting.text if setting else None

    def is_beside(self, name: str) -> bool:
        return self.directory.has(name)

    @cached_property
    def has_gpus(self) -> bool:
        return self.first_gpus is not None

    @cached_property
    def first_gpus(self) -> Setting | None:
        """The first Gres of a node with GPUs."""
        return next((gres for node in self.nodes if (gres := node.value("Gres")) and "gpu" in gres.text.lower()), None)

    @cached_property
    def gres_types(self) -> dict[str, None]:
        """The names among GresTypes, in order; their case counts."""
        return dict.fromkeys(word.strip() for word in self.text("GresTypes").split(",") if word.strip())

    @cached_property
    def nodes(self) -> list[Entry]:
        return self.slurm.entries("NodeName") if self.slurm else []

    @cached_property
    def partitions(self) -> list[Entry]:
        return self.slurm.entries("PartitionName") if self.slurm else []

    @cached_property
    def hosts(self) -> dict[str, Entry]:
        """Every node → its line, the first one where it stands twice."""
        nodes: dict[str, Entry] = {}
        for node in self.nodes:
            for host in hosts_of(node) or ():
                nodes.setdefault(host, node)
        return nodes

    @cached_property
    def node_sets(self) -> dict[str, Entry]:
        return {entry.names: entry for entry in self.slurm.entries("NodeSet")} if self.slurm else {}

    @cached_property
    def complete(self) -> bool:
        """True if all lines of nodes could be read, and all that is included."""
        if self.slurm is None:
            return False
        readable = all(hosts_of(node) is not None for node in self.nodes)
        included = not any(problem.kind == "include-failed" for line in self.slurm.lines for problem in line.problems)
        return readable and included

    # findings

    def place(self, spot: Setting | Spot | Line | Entry | str, *, key: bool = False) -> Place:
        """Where something stands, in the words in which the directory was given."""
        if isinstance(spot, str):
            return Place(self.directory.shown(spot))
        if isinstance(spot, Entry):
            spot = spot.name
        if isinstance(spot, Line):
            at = spot.pairs[0].key_at if spot.pairs else spot.include_at or Span(spot.number, 1, 1)
        elif isinstance(spot, Spot):
            at = spot.at
        else:
            at = spot.key_at if key else spot.value_at
        return Place(self.directory.shown(spot.file), at.line, at.column, at.end_column)

    def finding(
        self,
        code: str,
        severity: Severity,
        spot: Setting | Spot | Line | Entry | str,
        message: str,
        hint: str | None = None,
        *,
        key: bool = False,
        fix: Fix | None = None,
    ) -> LintFinding:
        words = [shortened(printable(text)) if text else None for text in (message, hint)]
        return LintFinding(Diagnostic(code, severity, self.place(spot, key=key), words[0] or "", words[1]), fix)

    def error(
        self, code: str, spot: Setting | Spot | Line | Entry | str, message: str, hint: str | None = None, **more: bool
    ) -> LintFinding:
        return self.finding(code, Severity.ERROR, spot, message, hint, key=more.get("key", False))

    def warning(
        self, code: str, spot: Setting | Spot | Line | Entry | str, message: str, hint: str | None = None, **more: bool
    ) -> LintFinding:
        return self.finding(code, Severity.WARNING, spot, message, hint, key=more.get("key", False))

    def note(
        self, code: str, spot: Setting | Spot | Line | Entry | str, message: str, hint: str | None = None, **more: bool
    ) -> LintFinding:
        return self.finding(code, Severity.INFO, spot, message, hint, key=more.get("key", False))

    def remarks(
        self, setting: Setting, remarks: Iterable[Remark], *, most: Severity | None = None
    ) -> Iterator[LintFinding]:
        """Remarks about one setting as findings at it. `most`: what an error about the value is lowered to."""
        for remark in remarks:
            severity = SEVERITY[remark.outcome]
            if most is not None and severity is Severity.ERROR and not remark.on_key:
                severity = most
            spot: Setting | Spot = setting
            if remark.at is not None and not remark.on_key:
                spot = self.part(setting, *remark.at)
            fix = fix_of(setting, remark)
            hint = remark.hint or (f"write {fix.text}" if fix and fix.text else None)
            yield self.finding(remark.code, severity, spot, remark.message, hint, key=remark.on_key, fix=fix)

    def part(self, setting: Setting, offset: int, length: int) -> Spot:
        """A part of a value; all of it where escapes or a line's end stand between."""
        at = setting.value_at
        if at.end_column - at.column != len(setting.text):
            return Spot(setting.file, at)
        start = at.column + offset
        return Spot(setting.file, Span(at.line, start, min(start + max(1, length), max(at.end_column, start + 1))))


def fix_of(setting: Setting, remark: Remark) -> Fix | None:
    """The edit that a remark's `instead` stands for."""
    replacement = remark.instead
    if replacement is None:
        return None
    if replacement == "delete":
        return delete_line(setting)
    if replacement.startswith("key:"):
        return Fix(setting.file, *setting.key_at, replacement.removeprefix("key:"))
    if setting.value_at.end_column - setting.value_at.column != len(setting.text):
        return None
    return Fix(setting.file, *setting.value_at, replacement)


def delete_line(setting: Setting) -> Fix:
    return Fix(setting.file, setting.key_at.line, 0, 0, None)


def hosts_of(entry: Entry) -> list[str] | None:
    """The names of a line expanded; None for a text that is no host list."""
    try:
        return entry.hosts()
    except HostlistError:
        return None


def expanded(text: str) -> list[str] | None:
    """A host list expanded; None for what is none."""
    try:
        return expand(without_extra_commas(text))
    except HostlistError:
        return None


def without_extra_commas(text: str) -> str:
    """A host list as Slurm reads it: commas with nothing between them, or at an end, count for nothing."""
    if ",," in text:
        text = _OUTSIDE_BRACKETS.sub(_without_doubles, text)
    return text.strip(",")


def _without_doubles(part: re.Match[str]) -> str:
    """The text up to the next bracket; what stands inside brackets stays."""
    return part[0] if part[0].endswith("]") else re.sub(",{2,}", ",", part[0])


def split_outside(text: str, brackets: str) -> list[str]:
    """The parts between the commas that stand outside of brackets, `()` or `[]`."""
    starts = [0]
    for part in re.finditer(f"[^{re.escape(brackets)}]*+.?", text, re.DOTALL):
        if not part[0].endswith(brackets[1]):
            starts += [part.start() + at for at, char in enumerate(part[0], 1) if char == ","]
    return [text[start : end - 1] for start, end in zip(starts, [*starts[1:], len(text) + 1], strict=True)]
