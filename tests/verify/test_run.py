"""Checks run side by side, and their rows are reported one after the other."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from clustergen.records import replace
from clustergen.verify.check import Question, Reader, any_word, failure
from clustergen.verify.checks import CHECKS, Check, Trial, shell
from clustergen.verify.files import Entry
from clustergen.verify.programs import Answer
from clustergen.verify.rows import Row
from clustergen.verify.run import verify
from strategies.pages import ROOT

BY_NAME = {check.name: check for check in CHECKS}
TREE = ROOT / "inventories" / "ml-training" / "rendered"


def test_rows_are_reported_before_slower_checks_are_done() -> None:
    reported = Event()

    def after_a_report(check: Check, _trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
        yield check.row("passed" if reported.wait(60) else "failed", entries)

    checks = (BY_NAME["tree"], replace(BY_NAME["dcgm counters"], ask=after_a_report))
    batches: list[list[Row]] = []

    def report(rows: list[Row]) -> None:
        batches.append(rows)
        reported.set()

    rows = verify(Path(TREE), checks, report)
    assert [(row.check, row.status) for row in rows] == [("tree", "passed"), ("dcgm counters", "passed")]
    assert [[row.check for row in batch] for batch in batches] == [["tree"], ["dcgm counters"]]


@pytest.mark.parametrize(
    ("code", "errors", "complaints"),
    [
        (None, "", ["no answer in time"]),
        (None, "reading\n", ["no answer in time", "reading"]),
        (1, "", ["exit status 1 without a message"]),
        (1, "line 3: wrong\n", ["line 3: wrong"]),
        (0, "", []),
    ],
)
def test_only_a_program_that_ends_with_0_has_read_its_files(
    code: int | None, errors: str, complaints: list[str]
) -> None:
    answer = Answer("1.2", code, "", errors, {})
    assert failure(answer) == any_word(answer) == complaints


def test_a_warning_counts_where_the_exit_status_hides_what_is_wrong() -> None:
    answer = Answer("1.2", 0, "all is well\n", "line 3: ignored\n\n", {})
    assert (failure(answer), any_word(answer)) == ([], ["line 3: ignored"])


_MISSING = "a.service: Command {} is not executable: No such file or directory\n"


@pytest.mark.parametrize(
    ("name", "answer", "complaints", "notes"),
    [
        ("systemd units", Answer("257", 1, "", "a.service:3: Unknown key\n", {}), ["a.service:3: Unknown key"], []),
        (
            "systemd units",
            Answer("257", 1, "", _MISSING.format("/usr/sbin/beegfs"), {}),
            [],
            ["not checked, because its package is not installed: /usr/sbin/beegfs"],
        ),
        (
            "systemd units",
            Answer("257", 1, "", _MISSING.format("/usr/local/sbin/clustergen-x"), {}),
            [_MISSING.format("/usr/local/sbin/clustergen-x").strip()],
            None,
        ),
        ("queries", Answer("3.5", 0, "Checking rules\n  SUCCESS: 12 rules found\n", "", {}), [], ["12 queries"]),
        ("queries", Answer("3.5", 0, "", "", {}), [], []),
    ],
)
def test_messages_of_an_answer(name: str, answer: Answer, complaints: list[str], notes: list[str] | None) -> None:
    """A program whose package is not installed is no mistake of the tree, but a missing program of the tree is one."""
    reader = BY_NAME[name].ask
    assert isinstance(reader, Reader)
    node: Any = SimpleNamespace(files={})
    nothing: Any = None
    question = Question(nothing, node, (), nothing)
    assert list(reader.complaints(answer, question)) == complaints
    if notes is not None:
        assert list(reader.notes(answer, question)) == notes


def test_xml_that_ends_early_is_said_with_its_place() -> None:
    entry = Entry("gpu_node/etc/nccl-topo-h100.xml", b"<system>\n  <cpu>\n")
    nothing: Any = None
    (row,) = BY_NAME["xml"].ask(BY_NAME["xml"], nothing, [entry])
    assert (row.status, row.words) == ("failed", (f"{entry.path}: no element found: line 3, column 0",))


def test_a_program_of_ansible_that_fails_without_a_message_has_not_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("ansible-inventory", "ansible-playbook", "ansible-config")
    for name in names:
        (tmp_path / name).write_text("#!/bin/sh\nexit 4\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    rows = verify(Path(TREE), [BY_NAME[name] for name in names])
    assert [(row.status, row.words) for row in rows] == [("failed", (f"{name}: exit status 4",)) for name in names]


def test_a_program_of_this_machine_that_takes_too_long_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "TIMEOUT", 0.2)
    (row,) = verify(Path(TREE), [replace(BY_NAME["bash"], ask=shell._Scripts("bash", "sleep 5"))])
    assert (row.status, row.words) == ("not run", ("bash did not answer within 0.2 s",))
