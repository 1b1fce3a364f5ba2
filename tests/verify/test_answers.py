"""Each check judges what its program has answered: the whole report of small trees with right files and wrong ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clustergen.features.nccl import library
from clustergen.verify.check import no_parser
from clustergen.verify.checks import CHECKS
from strategies import answers, reviewed
from strategies.asked_checks import CASES, Case
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


@pytest.mark.parametrize(
    ("release", "status", "version", "words"),
    [
        ("2.27", "failed", "2.27.7", ["NCCL_IB_HCA: libnccl 2.27.7 does not contain this name"]),
        (
            "2.21",
            "not run",
            "2.27.7",
            [
                "the tree requires NCCL 2.21, which is not available",
                "NCCL_IB_HCA: libnccl 2.27.7 does not contain this name",
            ],
        ),
        (
            "2.30",
            "passed",
            "2.28.3",
            ["the tree requires NCCL 2.30; checked with the nearest release that is available"],
        ),
    ],
)
def test_names_are_looked_up_in_the_nearest_release_of_nccl(
    release: str, status: str, version: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLUSTERGEN_PARSERS", str(tmp_path))
    monkeypatch.setattr(library, "_libraries", tuple)
    (tmp_path / "libnccl").mkdir()
    for installed, names in (("2.20.5", "NCCL_DEBUG"), ("2.27.7", "NCCL_DEBUG"), ("2.28.3", "NCCL_IB_HCA NCCL_DEBUG")):
        (tmp_path / f"libnccl/{installed}.names").write_text(names, encoding="utf-8")
    variables = f'nccl_release: "{release}"\n'
    case = Case(
        "nccl", right={"/etc/nccl.conf": "# why\nNCCL_IB_HCA=mlx5_0\n", "inventory/group_vars/all.yml": variables}
    )
    head, *printed = case.report(tmp_path).splitlines()
    assert head == f"{status:9}  libnccl {version}  NCCL: nccl.conf   1 file"
    assert printed == [*(f"    {line}" for line in words), "    - overlays/right/etc/nccl.conf"]
