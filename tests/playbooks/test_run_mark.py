"""Two runs at the same time: which one is refused."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.action import mark
from ansible_collections.clustergen.cluster.plugins.module_utils import run_mark


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(run_mark, "DIRECTORY", str(tmp_path))
    monkeypatch.setattr(run_mark, "PLACE", str(tmp_path / "run.json"))
    return tmp_path / "run.json"


def note(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "who": "ann", "host": "admin", "pid": 7, "began": 0, "open": True, **more}


def test_a_run_that_is_not_over_is_in_the_way_of_others(place: Path) -> None:
    assert run_mark.in_the_way("b") is None
    run_mark.write(note("a"))
    other = run_mark.in_the_way("b")
    assert other is not None
    assert other["id"] == "a"
    assert run_mark.in_the_way("a") is None
    assert run_mark.in_the_way("b", ["a"]) is None
    run_mark.write(note("a", open=False))
    assert run_mark.in_the_way("b") is None


def test_a_run_without_a_sign_for_long_is_dead_and_a_sign_keeps_it_alive(place: Path) -> None:
    run_mark.write(note("a"))
    long_ago = time.time() - run_mark.SILENT_S - 1
    os.utime(place, (long_ago, long_ago))
    assert run_mark.in_the_way("b") is None
    run_mark.sign()
    assert run_mark.in_the_way("b") is not None


def test_a_process_that_ended_is_over() -> None:
    this_run = mark.this_run(os.getppid())
    process = subprocess.Popen(["sleep", "60"])
    try:
        alive = {**this_run, "pid": process.pid, "id": f"x:{process.pid}:{mark.started(process.pid)}"}
        assert not mark.over(alive)
        assert mark.over({**alive, "id": f"x:{process.pid}:1"})  # its number was given to another one
    finally:
        process.kill()
        process.wait()
    assert mark.over(alive)
    assert not mark.over({**alive, "host": "another"})


ORPHAN = """
import os, sys, time
from ansible_collections.clustergen.cluster.plugins.action import mark
main = os.getpid()
if os.fork():
    time.sleep(60)
before = mark.orphaned(os.getppid())
os.kill(main, 9)
until = time.monotonic() + 20
while os.getppid() == main and time.monotonic() < until:
    time.sleep(0.01)
print(before, mark.orphaned(os.getppid()), flush=True)
"""


@pytest.mark.slow
def test_a_worker_whose_run_was_killed_knows_it() -> None:
    done = subprocess.run([sys.executable, "-c", ORPHAN], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "False True\n", done.stderr
