"""Options of the test run: a long one continues, failures are named at once, parts are listed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
TESTS = "import os\n\n\ndef test_good():\n    pass\n\n\ndef test_other():\n    assert 'GOOD' in os.environ\n"


def run(directory: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", ".", "-q", "-n1", "--tb=no", *options]
    return subprocess.run(
        command, cwd=directory, env={**os.environ, **environment}, capture_output=True, text=True,
        timeout=200, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_a_run_that_was_cut_off_continues_until_a_file_changes(tmp_path: Path) -> None:
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_two.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / ".gitignore").write_text("/build/\n__pycache__/\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True, timeout=300)
    first = run(tmp_path, "--resume", "build")
    assert (first.returncode, first.stderr.strip()) == (1, "failed: test_two.py::test_other (call)")
    second = run(tmp_path, "--resume", "build", GOOD="1")
    assert (second.returncode, second.stdout.splitlines()[-1].split(" in ")[0]) == (0, "1 passed")
    third = run(tmp_path, "--resume", "build")
    assert third.returncode == 0
    assert "2 tests have passed with these files" in third.stdout
    (tmp_path / "other").touch()
    assert "1 failed, 1 passed" in run(tmp_path, "--resume", "build").stdout


@pytest.mark.slow
def test_an_unknown_part_lists_the_parts(tmp_path: Path) -> None:
    shutil.copy(CONFTEST, tmp_path)
    done = run(tmp_path, "--part", "real-24.10")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "real-24.11" in done.stderr
    assert "containers" in done.stderr
