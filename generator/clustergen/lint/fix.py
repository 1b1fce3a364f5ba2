"""The findings that have one safe answer, put into the files; all other bytes stay as they are."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import ClustergenError, Diagnostic
from clustergen.diagnostics.redaction import redacted
from clustergen.lint.finding import Fix, LintFinding
from clustergen.lint.run import Report, lint
from clustergen.new_file import NewFile
from clustergen.regular_file import reason_of
from clustergen.slurmconf.parse import decode


def edits(report: Report, reported: Iterable[Diagnostic] | None = None) -> dict[Path, str]:
    """The new text of every file that the fix of a reported finding changes; None means all findings."""
    chosen = set(report.diagnostics if reported is None else reported)
    by_path: dict[Path, set[Fix]] = {}
    # What Slurm cannot read a person must: nothing else on such a line is touched.
    unreadable = {_line(one) for one in report.findings if one.diagnostic.code == "conf-syntax" and not one.fix}
    for one in report.findings:
        if one.fix is not None and one.diagnostic in chosen and _line(one) not in unreadable:
            path = report.directory.where(one.fix.file).resolve()
            by_path.setdefault(path, set()).add(one.fix._replace(file=""))
    changed = {}
    for path, fixes in by_path.items():
        old = decode(path.read_bytes())
        new = apply(old, fixes)
        if new != old:
            changed[path] = new
    return changed


def _line(finding: LintFinding) -> tuple[str, int]:
    place = finding.diagnostic.place
    return (place.file, place.line) if place else ("", 0)


def apply(text: str, fixes: Iterable[Fix]) -> str:
    """A text with all edits made; of two that overlap, the first of the line."""
    lines = text.split("\n")
    deleted: set[int] = set()
    for fix in sorted(fixes, key=lambda one: (one.line, one.column), reverse=True):
        if fix.text is None:
            deleted.add(fix.line)
    by_line: dict[int, list[Fix]] = {}
    for fix in fixes:
        if fix.text is not None and fix.line not in deleted and fix.line <= len(lines):
            by_line.setdefault(fix.line, []).append(fix)
    for number, edits_of_line in by_line.items():
        lines[number - 1] = _edited(lines[number - 1], edits_of_line)
    last = len(lines)
    kept = [line for number, line in enumerate(lines, 1) if number not in deleted]
    if last in deleted and kept and last > 1:
        kept.append("")  # the newline before a last line without one stays
    return "\n".join(kept)


def _edited(line: str, fixes: list[Fix]) -> str:
    out, at = [], 0
    for fix in sorted(fixes, key=lambda one: (one.column, one.end_column)):
        start, end = fix.column - 1, fix.end_column - 1
        if start < at or fix.text is None:
            continue
        new = "\r\n" if fix.text == "\n" and line.endswith("\r") else fix.text
        out += [line[at:start], new]
        at = end
    return "".join([*out, line[at:]])


def diff(changed: Mapping[Path, str]) -> Iterator[bytes]:
    """Unified diffs of the files to what they become, without secrets, as bytes: not every file is UTF-8."""
    for path, new in sorted(changed.items()):
        old = decode(path.read_bytes())
        lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), f"a/{path.name}", f"b/{path.name}")
        for line in lines:
            shown = redacted(line)
            ended = shown if line.endswith("\n") else f"{shown}\n\\ No newline at end of file\n"
            yield ended.encode("utf-8", "surrogateescape")


def write(path: Path, text: str) -> None:
    """Puts the new text in the place of a file at once, with its mode and owner. ClustergenError where it cannot."""
    try:
        before = path.stat()
        with NewFile(path, text.encode("utf-8", "surrogateescape")) as new:
            os.fchmod(new.descriptor, before.st_mode & 0o7777)
            if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(new.descriptor, before.st_uid, before.st_gid)
            os.fsync(new.descriptor)
            new.replace()
    except OSError as err:
        raise ClustergenError(f"{path}: cannot write this file: {reason_of(err)}", "the file is unchanged") from err


def fix_all(
    path: Path,
    release: SlurmRelease | None,
    report: Report,
    reported: Callable[[Report], Collection[Diagnostic]] = lambda report: report.diagnostics,
) -> tuple[Report, int]:
    """Writes the fixes of `reported` findings and lints again, until none is left.

    Returns the last report, and how many fixes were made.
    A fix may bring another one forth; five rounds are enough for all that depend on each other.
    """
    made = 0
    for _ in range(5):
        diagnostics = set(reported(report))
        changed = edits(report, diagnostics)
        if not changed:
            break
        made += sum(1 for one in report.findings if one.fix is not None and one.diagnostic in diagnostics)
        for file, text in changed.items():
            write(file, text)
        report = lint(path, release or report.release)
    return report, made
