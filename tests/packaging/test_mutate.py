"""tools/mutate, in a small repository: what tests notice, what they do not, and what they do not reach."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULE = '''
"""Sizes."""

from functools import cache

LIMIT = 7


@cache
def is_large(size):
    return size > LIMIT


def label(size):
    return "large" if is_large(size) else "small"


def unused():
    raise ValueError
'''
TESTS = """
import subprocess, sys
import pytest
from clustergen.sizes import is_large, label

def test_first():
    is_large(3), is_large(9)

def test_labels():
    assert [label(3), label(9)] == ["small", "large"]

def test_process():
    program = "from clustergen.sizes import label; print(label(3))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert done.stdout == b"small\\n"

@pytest.mark.slow
def test_limit():
    assert not is_large(7)
"""
CONFTEST = """
import hypothesis
hypothesis.settings.register_profile("quick")

def pytest_addoption(parser):
    parser.addoption("--sample")
"""


@pytest.mark.slow
def test_mutants_of_a_small_repository(tmp_path: Path) -> None:
    texts = {"generator/clustergen/sizes.py": MODULE, "tests/test_sizes.py": TESTS, "tests/conftest.py": CONFTEST}
    for name, text in {**texts, "generator/clustergen/__init__.py": "", ".gitignore": "/.venv\n/build\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text.removeprefix("\n"), encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\nmarkers = ["real", "container", "long", "slow", "many"]\n', encoding="utf-8"
    )
    (tmp_path / ".venv").symlink_to(sys.prefix)
    shutil.copytree(ROOT / "tools/mutation", tmp_path / "tools/mutation")
    shutil.copy(ROOT / "tools/mutate", tmp_path / "tools/mutate")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True, timeout=300)

    def mutate(*arguments: str) -> str:
        command = [sys.executable, "tools/mutate", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "3 tests recorded, 0 failed" in mutate("--record", "quick")
    draw = ("--seed", "3", "--count", "40", "--write", "page.md")
    output = mutate(*draw, "--quick")
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "| all | 4 | 1 | 1 | 2 | 1 |" in page, output
    assert "survived: `sizes.py:10`\n\n```diff\n-    return size > LIMIT\n+    return (size >= LIMIT)\n```" in page
    assert "sizes.py:10  3 tests" in output, "what a cache keeps, and another process, counts for each"
    assert "not reached: `sizes.py:18`\n\n```diff\n-    raise ValueError\n+    pass\n```" in page
    assert (tmp_path / "generator/clustergen/sizes.py").read_text(encoding="utf-8") == MODULE.removeprefix("\n")
    mutate(*draw)
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "| all | 4 | 1 | 2 | 1 | 1 |" in page, "the slow test is recorded for what the others leave"
    assert "Of the others those near the mutants ran" in page
