"""The programs of tools/ say what they do, and refuse what they do not know, before they do anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from strategies.pages import ROOT


def programs() -> list[Path]:
    files = [path for path in (ROOT / "tools").iterdir() if path.is_file() and path.suffix == ""]
    return sorted(path for path in files if path.read_bytes()[:2] == b"#!")


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("program", programs(), ids=lambda path: path.name)
def test_help_and_a_wrong_argument(program: Path, tmp_path: Path) -> None:
    start = [sys.executable] if b"python" in program.read_bytes().split(b"\n", 1)[0] else ["bash"]

    def run(argument: str) -> subprocess.CompletedProcess[str]:
        command = [*start, program, argument]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=120, cwd=tmp_path, stdin=subprocess.DEVNULL
        )

    done = run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.split()) > 5
    assert "Traceback" not in done.stdout
    wrong = run("--no-such-option")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr
    assert "Traceback" not in wrong.stderr
    assert list(tmp_path.iterdir()) == []
