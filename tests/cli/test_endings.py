"""How a command ends where the machine says no: a word, exit code 3, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONF = "ClusterName=c\nSlurmctldHost=h\nNodeName=n CPUs=1\nPartitionName=p Nodes=n Default=YES\n"


def run(*words: str, to: str | None = None) -> tuple[int, str]:
    """Exit code and stderr. Root's right to read everything is put down first."""
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    with Path(to or os.devnull).open("wb") as out:
        done = subprocess.run(
            [*drop, sys.executable, "-m", "clustergen", *words],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    return done.returncode, done.stderr


@pytest.mark.parametrize("verb", ["lint", "import", "diff"])
@pytest.mark.parametrize("mode", [("slurm.conf", 0), (".", 0)], ids=["file", "folder"])
def test_what_may_not_be_read(tmp_path: Path, verb: str, mode: tuple[str, int]) -> None:
    folder = tmp_path / "etc"
    folder.mkdir()
    (folder / "slurm.conf").write_text(CONF)
    closed = folder / mode[0]
    before = closed.stat().st_mode
    closed.chmod(mode[1])
    try:
        for path in (folder, folder / "slurm.conf"):
            code, told = run(verb, str(path), *([str(path)] if verb == "diff" else []))
            assert "Traceback" not in told
            assert code == 3 or (verb, code) == ("diff", 2)
            assert told.strip()
    finally:
        closed.chmod(before)


def test_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(CONF)
    code, told = run("lint", str(tmp_path), "--format", "json", to="/dev/full")
    assert (code, told) == (3, "clustergen: No space left on device\n")
