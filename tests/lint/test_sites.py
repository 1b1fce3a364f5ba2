"""Findings of lint for each small mistake, word by word; each finding of its checks has a row."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from clustergen.lint import run as lint_run
from strategies.lint_sites import SITES, findings, rows
from strategies.reviewed import expected

LINT = Path(lint_run.__file__).parent
ROWS = rows()


def firsts() -> list[str]:
    """The fragments in whose findings some words are new: names in quotes, numbers and places do not count."""
    seen: set[str] = set()
    result = []
    for name in ROWS:
        forms = {re.sub(r"'[^']*'|\d+|^\S+ \S+ ", "", line) for line in expected("lint")[name].splitlines()}
        if forms - seen and name not in SITES:
            result.append(name)
        seen |= forms
    return result


FIRSTS = firsts()


def check(*names: str) -> None:
    current = {name: findings(*ROWS[name]) for name in names}
    assert current == {name: expected("lint")[name] for name in names}, "python -m strategies.reviewed writes them"


@pytest.mark.parametrize("name", SITES)
def test_findings_of_a_mistake(name: str) -> None:
    check(name)


@pytest.mark.parametrize("part", range(9))
def test_each_finding_of_fragments(part: int) -> None:
    check(*FIRSTS[part::9])


@pytest.mark.many
@pytest.mark.parametrize("name", [name for name in ROWS if name not in {*SITES, *FIRSTS}])
def test_findings_of_another_fragment(name: str) -> None:
    """Real Slurm agrees with all of these: test_real_slurm.py."""
    check(name)


def test_no_findings_are_left_over() -> None:
    assert expected("lint").keys() == ROWS.keys()


@pytest.mark.slow
def test_each_finding_has_a_row() -> None:
    """Each `yield` of a check is reached by a row. Not one: edits, the upgrade report, the run, what slurmctld says."""
    sites = {
        (path.name, node.lineno)
        for path in LINT.glob("*.py")
        if path.name not in ("fix.py", "registration.py", "release.py", "run.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Yield)
    }
    reached: set[tuple[str, int]] = set()

    def trace_lines(frame: FrameType, event: str, _: Any) -> Any:
        reached.add((frame.f_code.co_filename.rpartition("/")[2], frame.f_lineno))
        return trace_lines

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        return trace_lines if frame.f_code.co_filename.startswith(f"{LINT}/") else None

    for release, files in ROWS.values():
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            findings(release, files)
        finally:
            sys.settrace(before)
    assert sorted(sites - reached) == [], "add a row to strategies/lint_sites.py"
