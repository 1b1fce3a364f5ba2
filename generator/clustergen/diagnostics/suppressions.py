"""Comments that suppress diagnostics, in manifests and in hand-written files alike, each with a reason:

    MaxTime=UNLIMITED   # clustergen: ignore[partition-time] the owner of these nodes wants it
    # clustergen: ignore[node-in-no-partition, gres-mismatch] bought, and not yet racked
    NodeName=new[1-4] …
    # clustergen: ignore-file[slurm-key-old-name] shared with the cluster that runs 22.05

A comment behind a line is about that line, one on a line of its own about the next line; both mean the whole line where
Slurm continues it by a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from clustergen.diagnostics.codes import CODES, Severity
from clustergen.diagnostics.model import Diagnostic, Place
from clustergen.diagnostics.words import did_you_mean, quote
from clustergen.records import record

_COMMENT = re.compile(r"(?:^|(?<=\s))#+\s*clustergen:\s*(?P<body>.*)$")
_BODY = re.compile(r"(?P<verb>ignore(?:-file)?)\s*\[(?P<codes>[^\]]*)\]\s*(?P<reason>.*)$")
_FORM = "write # clustergen: ignore[CODE] REASON, or ignore-file[CODE] REASON"
OWN_CODES = ("suppression-invalid", "suppression-unused")

IsComment = Callable[[str, int, int], bool]
"""True if the text at this line and column is a comment, and not part of a value."""


@record
class Suppression:
    """One code that a comment suppresses: on `lines` of its file, or in all of it where they are None."""

    place: Place
    code: str
    reason: str
    lines: range | None

    def covers(self, diagnostic: Diagnostic) -> bool:
        place = diagnostic.place
        if place is None or place.file != self.place.file or diagnostic.code != self.code:
            return False
        return self.lines is None or place.line in self.lines


@record
class Suppressed:
    """A diagnostic that is not reported. `kind`: a comment, or the baseline."""

    diagnostic: Diagnostic
    kind: str
    reason: str


def apply(
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, str],
    *,
    may_suppress: Callable[[Diagnostic], bool],
    is_comment: IsComment = lambda file, line, column: True,
    is_continued: Callable[[str], bool] = lambda file: False,
    report_unused: bool = True,
) -> tuple[list[Diagnostic], list[Suppressed]]:
    """Diagnostics without those that comments in `sources` suppress, and the suppressed ones.

    Added to the first are diagnostics of comments that are wrong and, where all rules have run (`report_unused`), of
    those that suppress nothing. `may_suppress` says of which diagnostics comments are heeded. `is_continued`: whether a
    backslash at its end continues a line of a file, as in Slurm's own format and not in YAML.
    """
    suppressions: list[Suppression] = []
    kept: list[Diagnostic] = []
    for file, text in sources.items():
        if "clustergen:" in text:
            items = list(_read(file, text, is_comment, is_continued(file)))
            suppressions += [item for item in items if isinstance(item, Suppression)]
            kept += [item for item in items if isinstance(item, Diagnostic)]
    if not suppressions:
        return [*diagnostics, *kept], []
    by_code: dict[str, list[Suppression]] = {}
    for suppression in suppressions:
        by_code.setdefault(suppression.code, []).append(suppression)
    muted: list[Suppressed] = []
    used: set[Suppression] = set()
    refused: set[Suppression] = set()
    for diagnostic in diagnostics:
        matches = [one for one in by_code.get(diagnostic.code, ()) if one.covers(diagnostic)]
        used.update(matches)
        if matches and may_suppress(diagnostic):
            muted.append(Suppressed(diagnostic, "comment", matches[0].reason))
        else:
            refused.update(matches)
            kept.append(diagnostic)
    kept += [_refused(one) for one in suppressions if one in refused]
    kept += [_unused(one) for one in suppressions if report_unused and one not in used]
    return kept, muted


def _refused(suppression: Suppression) -> Diagnostic:
    message = f"'{suppression.code}' is an error, which no comment suppresses"
    return Diagnostic.of("suppression-invalid", suppression.place, message, "delete the comment, and correct the cause")


def _unused(suppression: Suppression) -> Diagnostic:
    where = "in this file" if suppression.lines is None else "on the line that this comment is about"
    message = f"there is no '{suppression.code}' {where}"
    return Diagnostic.of("suppression-unused", suppression.place, message, "delete the comment, or the code in it")


def _read(file: str, text: str, is_comment: IsComment, has_continued_lines: bool) -> Iterator[Suppression | Diagnostic]:
    lines = re.split(r"\r\n|\n|\r", text)
    for number, line in enumerate(lines, 1):
        comment = _COMMENT.search(line)
        if comment is None or not is_comment(file, number, comment.start() + 1):
            continue
        place = Place(file, number, comment.start() + 1, len(line.rstrip()) + 1)
        body = _BODY.match(comment["body"])
        if body is None:
            yield _invalid(place, "this comment does not name what it suppresses", _FORM)
            continue
        codes = [code.strip() for code in body["codes"].split(",") if code.strip()]
        if not body["reason"].strip() or not codes:
            what = "reason" if codes else "code"
            yield _invalid(place, f"this comment has no {what}, so it suppresses nothing", _FORM)
            continue
        whole_file, alone = body["verb"] == "ignore-file", not line[: comment.start()].strip()
        about = _next(lines, number) if alone else number
        logical_line = _logical_line(lines, about) if has_continued_lines else range(about, about + 1)
        covered = None if whole_file else logical_line
        for code in codes:
            if code in CODES and code not in OWN_CODES:
                yield Suppression(place, code, body["reason"].strip(), covered)
            else:
                hint = did_you_mean(code, CODES) or "`clustergen explain` lists all codes"
                yield _invalid(place, f"no diagnostic that can be suppressed has the code {quote(code)}", hint)


def _invalid(place: Place, message: str, hint: str) -> Diagnostic:
    return Diagnostic.of("suppression-invalid", place, message, hint)


def _next(lines: Sequence[str], number: int) -> int:
    """The first line behind `number` that is neither empty nor a comment; lines count from 1."""
    for below in range(number, len(lines)):
        if (content := lines[below].strip()) and not content.startswith("#"):
            return below + 1
    return number


def _logical_line(lines: Sequence[str], number: int) -> range:
    """The line with those that it continues, and that continue it, by a backslash."""
    first = last = number
    while first > 1 and lines[first - 2].endswith("\\"):
        first -= 1
    while last < len(lines) and lines[last - 1].endswith("\\"):
        last += 1
    return range(first, last + 1)


def not_an_error(diagnostic: Diagnostic) -> bool:
    """For manifests: an error makes the tree wrong, or there is none, so only the rest can be suppressed."""
    return diagnostic.severity is not Severity.ERROR
