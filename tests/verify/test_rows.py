"""Rows, the exit code that they make, and how they are shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clustergen.verify.rows import Row, Status, counts, exit_code, merged
from clustergen.verify.show import render, summary, text

TREE = Path("trees/one")


def row(status: Status, *words: str, files: tuple[str, ...] = ("a",), version: str = "1.2", check: str = "x") -> Row:
    return Row(check, f"kind {check}", "parser", status, files, version, words)


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        (["passed", "passed"], 0),
        (["passed", "no parser"], 0),
        (["passed", "not run"], 3),
        (["passed", "failed"], 1),
        (["not run", "failed", "no parser"], 1),
        ([], 0),
    ],
)
def test_the_exit_code_tells_them_apart(statuses: list[Status], code: int) -> None:
    assert exit_code([row(status) for status in statuses]) == code


def test_alike_rows_of_several_nodes_become_one() -> None:
    rows = merged(
        [
            row("passed", "one", files=("a", "b")),
            row("passed", "one", "two", files=("b", "c")),
            row("passed", files=("d",), version="2.0"),
            row("failed", "wrong", files=("c",)),
        ]
    )
    assert [(r.status, r.version, r.files, r.words) for r in rows] == [
        ("passed", "1.2", ("a", "b", "c"), ("one", "two")),
        ("passed", "2.0", ("d",), ()),
        ("failed", "1.2", ("c",), ("wrong",)),
    ]


def test_the_summary_counts_every_row() -> None:
    rows = [row("passed"), row("passed"), row("failed"), row("not run"), row("no parser")]
    assert summary(rows) == "2 passed, 1 failed, 1 not run, 1 without a parser"
    assert sum(counts(rows).values()) == len(rows)


def test_details_follow_failures_and_passes_on_demand() -> None:
    rows = [row("passed", "a note"), row("failed", "line 3: wrong"), row("not run", "no such program", version="")]
    plain = text(rows)
    assert plain.splitlines() == [
        "passed     parser 1.2  kind x   1 file",
        "failed     parser 1.2  kind x   1 file",
        "    line 3: wrong",
        "not run    parser      kind x   1 file",
        "    no such program",
    ]
    assert "    a note\n    - a\n" in text(rows, verbose=True)
    assert "\x1b[31mfailed   \x1b[0m" in text(rows, colour=True)
    assert "\x1b" not in plain


LONG = [
    Row("a", "Slurm: processors and GPUs that slurmd detects", "slurmd -G", "passed", ("f",) * 22, "24.11.5"),
    Row("b", "host names", "slurmctld, slurmdbd, slurmd, sacctmgr, sbatch", "failed", ("f",), "24.11.5",
        (f"{'many words ' * 20}in {'/a/long/path' * 12}",)),
]  # fmt: skip


@pytest.mark.parametrize("width", [40, 60, 80, 100, 130])
def test_rows_fit_the_width_and_lose_nothing(width: int) -> None:
    whole, fitted = text(LONG), text(LONG, width=width, folds_words=True)
    path = "/a/long/path" * 12
    lines = [line for line in fitted.splitlines() if path not in line]
    assert max(map(len, lines)) <= max(width, 55)  # two columns of 16, and those of the status and the files
    assert f"\n      {path}\n" in fitted
    for row in LONG:
        words = {word for cell in (row.parser, row.what, *row.words) for word in cell.split()}
        assert words <= set(fitted.split())
    assert max(map(len, whole.splitlines())) > 130
    assert text(LONG, width=1000, folds_words=True) == whole


def test_messages_are_whole_lines_for_programs() -> None:
    assert "    " + LONG[1].words[0] in text(LONG, width=80).splitlines()


def test_programs_get_every_row_whole() -> None:
    rows = [row("passed", "a note"), row("no parser", "why", version="", files=("a", "b"))]
    document = json.loads(render(TREE, rows, "json"))
    assert (document["tree"], document["exit_code"]) == ("trees/one", 0)
    assert document["rows"][1] == {
        "check": "x",
        "what": "kind x",
        "parser": "parser",
        "version": None,
        "status": "no-parser",
        "files": ["a", "b"],
        "words": ["why"],
    }


def test_github_gets_what_is_wrong_on_its_file() -> None:
    rows = [row("passed"), row("failed", "100% wrong", "twice", files=("a/b", "c")), row("not run", "why", files=())]
    assert render(TREE, rows, "github").splitlines() == [
        "::error file=trees/one/a/b,title=parser 1.2%3A kind x%2C failed::100%25 wrong%0Atwice",
        "::warning title=parser 1.2%3A kind x%2C not run::why",
    ]


def test_json_shows_no_character_that_a_terminal_acts_on() -> None:
    words = "a\u202eb\x9b31m"
    text = render(TREE, [row("failed", words)], "json")
    assert text.isascii()
    assert json.loads(text)["rows"][0]["words"] == [words]
