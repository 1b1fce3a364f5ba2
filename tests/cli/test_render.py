"""`clustergen render`: where it may put a tree, and what it says of the folder that one stands in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.diagnostics import ClustergenError
from strategies.diffs import LONGER, write


def render(*words: str | Path) -> Result:
    return CliRunner().invoke(group, ["render", *map(str, words)])


def test_an_empty_variable_names_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-o "$OUT"` in a script that forgot to set it."""
    monkeypatch.chdir(tmp_path)
    done = render(write(tmp_path), "-o", "")
    assert done.exit_code == 2
    assert "-o is empty" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.yaml"]


@pytest.mark.parametrize("above", [".", ".."])
@pytest.mark.parametrize("check", [False, True])
def test_a_tree_does_not_take_the_folder_of_its_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, above: str, check: bool
) -> None:
    """The folder is exchanged as a whole: whoever stands in it would stand nowhere."""
    manifest = write(tmp_path / "cluster")
    monkeypatch.chdir(manifest.parent)
    done = render("manifest.yaml", "-o", above, *(["--check"] if check else []))
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == 3
    assert [path.name for path in manifest.parent.iterdir()] == ["manifest.yaml"]


def test_who_stands_in_the_tree_is_told_that_it_is_another_one(tmp_path: Path) -> None:
    manifest = write(tmp_path)
    tree = tmp_path / "rendered"
    assert render(manifest).exit_code == 0

    def within() -> str:
        done = subprocess.run(
            [sys.executable, "-m", "clustergen", "render", "../manifest.yaml"],
            cwd=tree, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        return done.stderr

    assert "exchanged" not in within()
    write(tmp_path, LONGER)
    assert 'cd "$PWD"' in within()
