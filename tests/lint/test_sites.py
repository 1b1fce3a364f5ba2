"""What lint finds in each small mistake, word by word; each finding of its checks has a row."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from clustergen.lint import run as lint_run
from strategies.lint_sites import SITES, expected, findings, rows

LINT = Path(lint_run.__file__).parent
ROWS, EXPECTED = rows(), dict(expected())


def check(name: str, directory: Path) -> None:
    assert findings(*ROWS[name], directory) == EXPECTED[name], "python -m strategies.lint_sites writes the findings"


@pytest.mark.parametrize("name", SITES)
def test_findings_of_a_mistake(name: str, tmp_path: Path) -> None:
    check(name, tmp_path)


@pytest.mark.many
@pytest.mark.parametrize("name", [name for name in ROWS if name not in SITES])
def test_findings_of_a_fragment(name: str, tmp_path: Path) -> None:
    """Real Slurm agrees with these: test_real_slurm.py."""
    check(name, tmp_path)


def test_no_findings_are_left_over() -> None:
    assert EXPECTED.keys() == ROWS.keys()


@pytest.mark.slow
def test_each_finding_has_a_row(tmp_path: Path) -> None:
    """Each `yield` of a check is reached by a row. What is not one: edits, the upgrade report, and the run itself."""
    sites = {
        (path.name, node.lineno)
        for path in LINT.glob("*.py")
        if path.name not in ("fix.py", "release.py", "run.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Yield)
    }
    reached: set[tuple[str, int]] = set()

    def trace_lines(frame: FrameType, event: str, _: Any) -> Any:
        reached.add((frame.f_code.co_filename.rpartition("/")[2], frame.f_lineno))
        return trace_lines

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        return trace_lines if frame.f_code.co_filename.startswith(f"{LINT}/") else None

    for number, (release, files) in enumerate(ROWS.values()):
        directory = tmp_path / str(number)
        directory.mkdir()
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            findings(release, files, directory)
        finally:
            sys.settrace(before)
    assert sorted(sites - reached) == [], "add a row to strategies/lint_sites.py"
