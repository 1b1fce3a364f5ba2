"""Estimates from earlier runs: on a terminal, where there is a record, and never in a place that programs read."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from clustergen.cli import durations
from strategies.diffs import rendered, write


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    return tmp_path / "cache/clustergen/durations.json"


def test_the_last_duration_is_the_estimate(record: Path) -> None:
    assert durations.estimate("lab image") == ""
    durations.keep("lab image", 160.4)
    durations.keep("lab image", 31.2)
    assert durations.estimate("lab image") == " (about 31 s, as the last time)"
    assert durations.estimate("lab other") == ""


def test_quick_commands_are_not_recorded(record: Path) -> None:
    durations.keep("lab network", 1.9)
    assert not record.exists()


@pytest.mark.slow
def test_the_latest_names_are_kept(record: Path) -> None:
    for number in range(150):
        durations.keep(f"step {number}", 5)
    assert list(json.loads(record.read_text())) == [f"step {number}" for number in range(50, 150)]


@pytest.mark.parametrize("text", ["", "[1]", '{"a": "b"}', '{"a": 1e999}', "[" * 100_000])
def test_a_damaged_record_gives_no_estimate(text: str, record: Path) -> None:
    record.parent.mkdir(parents=True)
    record.write_text(text)
    assert durations.estimate("a") == ""
    durations.keep("a", 3)
    assert durations.estimate("a") == " (about 3 s, as the last time)"


def test_a_record_that_cannot_be_written_is_no_failure(record: Path) -> None:
    record.parent.parent.mkdir()
    record.parent.write_text("a file in the place of the directory")
    durations.keep("a", 3)
    assert durations.estimate("a") == ""


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("is_terminal", [True, False])
@pytest.mark.parametrize(
    ("arguments", "name", "line", "end"),
    [
        (["verify", "{tree}", "--only", "tree"], "verify {tree} tree", "{tree}: checking", "1 passed.\n"),
        (
            ["explain", "{tree}/../manifest.yaml", "/etc/slurm/cgroup.conf"],
            "explain overlays/slurm_node/etc/slurm/cgroup.conf",
            "explaining all lines of overlays/slurm_node/etc/slurm/cgroup.conf",
            "\n",
        ),
    ],
)
def test_a_long_command_gives_an_estimate_on_a_terminal_only(
    arguments: list[str], name: str, line: str, end: str, is_terminal: bool, tmp_path: Path
) -> None:
    tree = rendered(write(tmp_path / "c")).resolve()
    record = tmp_path / "cache/clustergen/durations.json"
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({name.format(tree=tree): 31}))
    controller, terminal = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "clustergen", *(word.format(tree=tree) for word in arguments)],
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
            stdout=subprocess.PIPE, stderr=terminal if is_terminal else subprocess.PIPE,
            text=True, timeout=300, check=True,
        )  # fmt: skip
        if is_terminal:
            shown = os.read(controller, 10_000).decode().replace("\r\n", "\n")
            assert shown == f"{line.format(tree=tree)} (about 31 s, as the last time)\n"
        else:
            assert done.stderr == ""
    finally:
        os.close(controller)
        os.close(terminal)
    assert done.stdout.endswith(end)
