"""Comments that suppress diagnostics: which line they are about, and which of them are wrong."""

from __future__ import annotations

import pytest

from clustergen.diagnostics import Diagnostic, Place
from clustergen.diagnostics.suppressions import apply, not_an_error

FILE = "slurm.conf"


def finding(line: int, code: str = "gres-mismatch") -> Diagnostic:
    return Diagnostic.of(code, Place(FILE, line, 1, 2), "something")


def judged(text: str, *diagnostics: Diagnostic, report_unused: bool = False) -> tuple[list[Diagnostic], list[str]]:
    """Diagnostics that stay, and the reasons of the others."""
    kept, suppressed = apply(
        diagnostics,
        {FILE: text},
        may_suppress=not_an_error,
        is_continued=lambda file: file == FILE,
        report_unused=report_unused,
    )
    return kept, [one.reason for one in suppressed]


@pytest.mark.parametrize(
    "text", ["a: 1  # clustergen: ignore[gres-mismatch] C:\\\n", "# clustergen: ignore[gres-mismatch] known\nx: a\\\n"]
)
def test_a_backslash_continues_no_line_of_yaml(text: str) -> None:
    line = text.count("\n") + 1
    diagnostic = Diagnostic.of("gres-mismatch", Place("manifest.yaml", line, 1, 2), "something")
    kept, _ = apply([diagnostic], {"manifest.yaml": text + "b: 2\n"}, may_suppress=not_an_error, report_unused=False)
    assert kept == [diagnostic]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("A=1  # clustergen: ignore[gres-mismatch] known\n", 1),
        ("# clustergen: ignore[gres-mismatch] known\nA=1\n", 2),
        ("  #clustergen:ignore [ priority-period , gres-mismatch ]   known\n\n# a remark\nA=1\n", 4),
        ("# clustergen: ignore[gres-mismatch] known\nNodeName=a \\\n  Gres=gpu:4 \\\n  CPUs=1\n", 4),
        ("NodeName=a \\\n  Gres=gpu:4 # clustergen: ignore[gres-mismatch] known\n", 1),
        ("A=1\r\n# clustergen: ignore[gres-mismatch] known\r\nB=2\r\n", 3),
        ("A=1\nB=2\n# clustergen: ignore-file[gres-mismatch] known", 1),
        ("A=1\n# clustergen: ignore-file[gres-mismatch] known\n", 0),
    ],
)
def test_the_line_that_a_comment_is_about(text: str, line: int) -> None:
    assert judged(text, finding(line)) == ([], ["known"])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("A=1  # clustergen: ignore[gres-mismatch] known\nB=2\n", 2),
        ("A=1\n# clustergen: ignore[gres-mismatch] known\nB=2\nC=3\n", 1),
        ("# clustergen: ignore[gres-mismatch] known\nB=2\nC=3\n", 3),
        ("# clustergen: ignore[priority-period] known\nB=2\n", 2),
        ("Path=/a/#clustergen:ignore[gres-mismatch] known\n", 1),
        ("# clustergen: ignore[gres-mismatch] known\nA=1\n", 0),
    ],
)
def test_lines_that_it_is_not_about(text: str, line: int) -> None:
    assert judged(text, finding(line)) == ([finding(line)], [])


def test_another_file_is_not_meant() -> None:
    kept, suppressed = apply(
        [finding(1)], {"gres.conf": "# clustergen: ignore-file[gres-mismatch] x\n"}, may_suppress=not_an_error
    )
    assert finding(1) in kept
    assert not suppressed


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("ignore[gres-mismatch]", "this comment has no reason"),
        ("ignore[] because", "this comment has no code"),
        ("ignore gres-mismatch because", "does not name what it suppresses"),
        ("noqa", "does not name what it suppresses"),
        ("ignore[gres-mismtach] because", "no diagnostic that can be suppressed has the code 'gres-mismtach'"),
        ("ignore[suppression-unused] because", "no diagnostic that can be suppressed"),
    ],
)
def test_comments_that_are_wrong_suppress_nothing(comment: str, message: str) -> None:
    (stays, wrong), reasons = judged(f"A=1  # clustergen: {comment}\n", finding(1))
    assert (stays, reasons) == (finding(1), [])
    assert wrong.code == "suppression-invalid"
    assert message in wrong.message
    assert wrong.place == Place(FILE, 1, 6, 6 + len(f"# clustergen: {comment}"))


def test_an_unknown_code_is_guessed() -> None:
    (wrong,), _ = judged("# clustergen: ignore[gres-mismtach] because\nA=1\n")
    assert wrong.hint == "did you mean 'gres-mismatch'?"


def test_an_error_stays_where_it_may_not_be_suppressed() -> None:
    kept, reasons = judged("A=1  # clustergen: ignore[key-unknown] fine\n", finding(1, "key-unknown"))
    assert [one.code for one in kept] == ["key-unknown", "suppression-invalid"]
    assert not reasons


def test_a_comment_that_suppresses_nothing_is_reported_code_by_code() -> None:
    text = "A=1  # clustergen: ignore[gres-mismatch, priority-period] known\n"
    kept, reasons = judged(text, finding(1), report_unused=True)
    assert [(one.code, one.severity.value, one.message) for one in kept] == [
        ("suppression-unused", "info", "there is no 'priority-period' on the line that this comment is about")
    ]
    assert reasons == ["known"]
    assert judged(text, finding(1), report_unused=False)[0] == []


def test_text_that_is_no_comment_is_left_alone() -> None:
    text = 'a: "# clustergen: ignore[gres-mismatch] x"\n'
    kept, reasons = apply([finding(1)], {FILE: text}, may_suppress=not_an_error, is_comment=lambda line, column: False)
    assert (kept, reasons) == ([finding(1)], [])
