"""-v logs steps to stderr and leaves stdout as it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = ROOT / "inventories/home-3090/manifest.yaml"


def clustergen(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "clustergen", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.slow
def test_steps_are_logged_beside_the_output() -> None:
    silent, logged = (
        clustergen("diff", str(MANIFEST), str(MANIFEST)),
        clustergen("diff", "-v", str(MANIFEST), str(MANIFEST)),
    )
    assert (logged.returncode, logged.stdout) == (silent.returncode, silent.stdout)
    assert not silent.stderr
    messages = [line.partition("clustergen.compile: ")[2].split()[0] for line in logged.stderr.splitlines()]
    assert messages == ["load", "resolve", "check", "render"] * 2


@pytest.mark.slow
def test_single_programs_are_logged_with_vv() -> None:
    assert (
        "clustergen.diff.git_objects: git "
        in clustergen("diff", "-vv", f"HEAD:{MANIFEST.relative_to(ROOT)}", str(MANIFEST)).stderr
    )
