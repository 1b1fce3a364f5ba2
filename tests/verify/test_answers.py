"""Each check judges what its program has answered: the whole report of small trees with right files and wrong ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clustergen.verify.check import no_parser
from clustergen.verify.checks import CHECKS
from strategies import answers, reviewed
from strategies.asked_checks import CASES
from strategies.asked_trials import CASES as TRIALS


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Roots with empty files in place of the programs that were asked."""
    return answers.machine(tmp_path_factory.mktemp("parsers"))


@pytest.mark.parametrize(
    ("table", "name"), [*(("checks", name) for name in CASES), *(("trials", name) for name in TRIALS)]
)
def test_reports_of_recorded_answers_are_the_reviewed_ones(
    table: str, name: str, machine: Path, tmp_path: Path
) -> None:
    case = CASES[name] if table == "checks" else TRIALS[name]
    with answers.answering(tmp_path, machine, answers.answers_of(table, name)):
        assert case.report(tmp_path) == reviewed.expected(f"answers_{table}")[name]


@pytest.mark.real
@pytest.mark.many
@pytest.mark.parametrize("name", [name for name in CASES if answers.answers_of("checks", name)])
def test_programs_still_answer_as_recorded(name: str, tmp_path: Path) -> None:
    """But for versions, and columns that are as wide as these ask."""
    with answers.answering(tmp_path, tmp_path, None):
        assert _without_versions(CASES[name].report(tmp_path)) == _without_versions(
            reviewed.expected("answers_checks")[name]
        )


def _without_versions(text: str) -> list[list[str]]:
    return [re.sub(r"\d+(\.\d+)+[\w.+~-]*|…", " ", line).split() for line in text.splitlines()]


def test_every_check_that_asks_a_program_has_a_case() -> None:
    without = {"tree", "nccl", "alertmanager", "blackbox exporter arguments", "IPMI exporter"}
    assert {check.name for check in CHECKS if check.ask is not no_parser} - without == {c.check for c in CASES.values()}
