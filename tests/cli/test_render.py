"""`clustergen render`: where it writes a tree, and what it reads before."""

from __future__ import annotations

import json
import os
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


def test_an_empty_variable_names_no_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-o "$OUT"` in a script that forgot to set it."""
    monkeypatch.chdir(tmp_path)
    done = render(write(tmp_path), "-o", "")
    assert done.exit_code == 2
    assert "-o is empty" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.yaml"]


@pytest.mark.parametrize("above", [".", ".."])
@pytest.mark.parametrize("check", [False, True])
def test_a_tree_does_not_take_the_directory_of_its_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, above: str, check: bool
) -> None:
    """A directory with a lock file is read as a tree; its manifest would not be seen."""
    manifest = write(tmp_path / "cluster")
    monkeypatch.chdir(manifest.parent)
    done = render("manifest.yaml", "-o", above, *(["--check"] if check else []))
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == 3
    assert [path.name for path in manifest.parent.iterdir()] == ["manifest.yaml"]


@pytest.mark.slow
def test_a_shell_in_the_tree_sees_the_new_one(tmp_path: Path) -> None:
    manifest = write(tmp_path)
    assert render(manifest).exit_code == 0
    write(tmp_path, LONGER)
    command = '"$0" -m clustergen render ../manifest.yaml >/dev/null && cat overlays/*/etc/slurm/slurm.conf'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable], cwd=tmp_path / "rendered", capture_output=True, timeout=300, check=True
    )
    (path,) = tmp_path.glob("rendered/overlays/*/etc/slurm/slurm.conf")
    assert done.stdout == path.read_bytes()


@pytest.mark.slow
def test_an_edited_file_that_is_no_longer_rendered_is_named(tmp_path: Path) -> None:
    (tmp_path / "site/all/etc").mkdir(parents=True)
    (tmp_path / "site/all/etc/motd").write_text("hello\n")
    manifest = write(tmp_path)
    assert render(manifest).exit_code == 0
    (tmp_path / "site/all/etc/motd").unlink()
    place = tmp_path / "rendered/overlays/all/etc/motd"
    place.write_text("edited\n")
    assert f"{place}: kept" in render(manifest, "--check").output
    assert f"{place}: no longer rendered, but kept because it was edited" in render(manifest).output
    assert place.read_text() == "edited\n"
    assert render(manifest, "--check").exit_code == 0


@pytest.mark.slow
def test_a_check_shows_the_warnings_of_render(tmp_path: Path) -> None:
    manifest = write(tmp_path, ("os: debian-13", "os: rocky-9"), ("  build: schedmd\n", ""))
    documents = [json.loads(render(manifest, "--format", "json", *words).stdout) for words in ((), ("--check",))]
    diagnostics = [document["diagnostics"] for document in documents]
    assert diagnostics[0]
    assert diagnostics[0] == diagnostics[1]
    assert documents[1]["differences"] == []


@pytest.mark.slow
def test_a_loop_of_links_ends_with_exit_code_3(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert "too many levels of symbolic links" in command("render", loop)[1]
    assert "too many levels of symbolic links" in command("render", write(tmp_path), "-o", loop)[1]
    for words in (("validate", loop), ("explain", loop, "slurm.conf"), ("diff", loop, loop)):
        assert command(*words)[0] == 3


@pytest.mark.slow
@pytest.mark.parametrize(("path", "readers"), [("clustergen.lock.json", 3), ("inventory/hosts.ini", 1)])
def test_no_command_waits_for_a_pipe_in_the_place_of_a_file(tmp_path: Path, path: str, readers: int) -> None:
    manifest = write(tmp_path)
    tree = tmp_path / "rendered"
    render(manifest)
    (tree / path).unlink()
    os.mkfifo(tree / path)
    assert command("verify", tree, "--only", "tree", "--only", "ansible-inventory")[0] == readers
    assert command("render", manifest, "--check")[0] == readers
    assert command("render", manifest)[0] == 3
    assert command("diff", manifest, tree)[0] == 3


def command(*words: str | Path) -> tuple[int, str]:
    """Exit code and messages of the real command, which has 60 seconds."""
    done = subprocess.run(
        [sys.executable, "-m", "clustergen", *map(str, words)], capture_output=True, text=True, timeout=300, check=False
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr
