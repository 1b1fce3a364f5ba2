"""Lines that Slurm's parser cannot read, or reads otherwise than they look."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.diagnostics import Severity
from clustergen.diagnostics.redaction import named_secret
from clustergen.lint.finding import Fix, LintFinding
from clustergen.lint.site import Site, Spot
from clustergen.slurmconf.grammar import Line, Pair, Problem, ProblemKind
from clustergen.slurmrules.keys import IGNORANT

_CODES = {
    ProblemKind.NOT_A_PAIR: "conf-syntax",
    ProblemKind.VALUE_MISSING: "conf-syntax",
    ProblemKind.EXTRA_TEXT: "conf-syntax",
    ProblemKind.INCLUDE_FAILED: "conf-include",
    ProblemKind.INCLUDE_OUTSIDE: "conf-include",
    ProblemKind.INCLUDE_UNTERMINATED: "conf-include",
    ProblemKind.VALUE_SWALLOWED: "conf-misread",
    ProblemKind.STRAY_QUOTE: "conf-misread",
    ProblemKind.NUL_BYTE: "conf-misread",
}
_OTHER_COMMENT = re.compile(r"[ \t]*(;+|//+|--+|!+|%+)")


def problems(site: Site, name: str) -> Iterator[LintFinding]:
    """The problems of all lines of one file and of what it includes."""
    config = site.directory.config(name)
    for line in config.lines if config else ():
        for pair in line.pairs:
            if pair.value.startswith("=") and not pair.quoted:
                yield _doubled(site, line, pair)
        for problem in line.problems:
            code = _CODES.get(problem.kind)
            if code is not None:
                yield _finding(site, line, problem, code)


def _doubled(site: Site, line: Line, pair: Pair) -> LintFinding:
    """`Key==Value`: the second one is part of the value."""
    at = pair.value_at._replace(end_column=pair.value_at.column + 1)
    message = f"two = signs: Slurm reads the second one as part of the value of {pair.key}"
    fix = Fix(line.file, *at, "")
    return site.finding("conf-misread", Severity.WARNING, Spot(line.file, at), message, "delete it", fix=fix)


def _finding(site: Site, line: Line, problem: Problem, code: str) -> LintFinding:
    severity = Severity.ERROR if problem.kind.fatal else Severity.WARNING
    spot = Spot(line.file, problem.at)
    message, hint, fix = problem.message, problem.hint, None
    if line.file in IGNORANT and problem.kind.fatal:
        message = "Slurm cannot read all of this line, and ignores the rest"
        return site.warning(code, spot, message, hint)
    physical = _physical(site, line.file, line.number)
    if named_secret(physical, 0, len(physical)) is not None:
        message, hint = (
            "Slurm cannot read this line, or reads a different password",
            r"write # as \#, and put blanks in quotes",
        )
        return site.finding(code, severity, spot, message, hint)
    if problem.kind is ProblemKind.NOT_A_PAIR:
        text = _physical(site, line.file, problem.at.line)
        if match := _OTHER_COMMENT.match(text):
            message = f"'{match[1]}' does not start a comment: Slurm reads this line and stops"
            hint = "start the comment with #"
            fix = Fix(line.file, problem.at.line, match.start(1) + 1, match.end(1) + 1, "#")
        elif text.startswith("\ufeff"):
            fix = Fix(line.file, problem.at.line, 1, 2, "")
    elif problem.kind is ProblemKind.EXTRA_TEXT and line.pairs:
        fix = _split(site, line)
    elif line.include and _is_elsewhere(line.include, problem.kind):
        # The node may have it.
        severity = Severity.WARNING
        message = f"'{line.include}' is outside the directory and was not read"
        hint = "copy the file into the directory to have it checked"
    return site.finding(code, severity, spot, message, hint, fix=fix)


def _is_elsewhere(name: str, kind: ProblemKind) -> bool:
    if kind is not ProblemKind.INCLUDE_FAILED:
        return kind is ProblemKind.INCLUDE_OUTSIDE
    return name.startswith("/") and not name.startswith("/etc/slurm/") and "*" not in name


def _split(site: Site, line: Line) -> Fix | None:
    """A second key of its own in a line of slurm.conf gets a line of its own: `A=1 B=2`."""
    pair = line.pairs[0]
    text = _physical(site, line.file, pair.line)
    rest = text[pair.value_end - 1 + (1 if pair.quoted else 0) :]
    second = re.match(r"([ \t]+)([A-Za-z0-9_.]+=)", rest)
    if second is not None and second[2].rstrip("=").lower() == pair.key.lower():
        return None  # a person has to say which one is meant
    if len(line.pairs) > 1 or second is None or "\\" in text or line.file not in site.directory.texts:
        return None
    start = len(text) - len(rest) + 1
    return Fix(line.file, pair.line, start, start + len(second[1]), "\n")


def _physical(site: Site, file: str, number: int) -> str:
    lines = site.lines(file)
    return lines[number - 1] if 0 < number <= len(lines) else ""
