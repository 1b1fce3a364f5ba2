"""Putting a tree on disk: all or nothing, foreign files untouched."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clustergen.diagnostics import ClustergenError
from clustergen.render.tree import LOCK, RenderedFile, Tree
from clustergen.render.write import differences, write


def tree_of(files: dict[str, str], modes: dict[str, int] | None = None) -> Tree:
    rendered = {
        path: RenderedFile(path, text.encode(), "all", "/" + path, (modes or {}).get(path, 0o644))
        for path, text in sorted(files.items())
    }
    return Tree(rendered, {"all": ("n1",)}, "manifest.yaml", "0" * 64)


def on_disk(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_writes_everything_once(tmp_path: Path) -> None:
    tree = tree_of({"a/b": "1", "c": "2"}, {"c": 0o755})
    folder = tmp_path / "rendered"
    assert {d.kind for d in write(tree, folder)} == {"missing"}
    assert set(on_disk(folder)) == {"a/b", "c", LOCK}
    assert os.access(folder / "c", os.X_OK)
    assert not os.access(folder / "a/b", os.X_OK)
    before = (folder / "a/b").stat().st_ino
    assert write(tree, folder) == []
    assert (folder / "a/b").stat().st_ino == before, "nothing differs, so nothing is written"


def test_left_overs_go_and_foreign_files_stay(tmp_path: Path) -> None:
    folder = tmp_path / "rendered"
    write(tree_of({"old/file": "1", "same": "x"}), folder)
    foreign = {"notes.txt": "mine", "old/mine": "mine too", "empty": None}
    (folder / "notes.txt").write_text("mine")
    (folder / "old/mine").write_text("mine too")
    (folder / "empty").mkdir()
    (folder / "link").symlink_to("/nowhere")
    inode = (folder / "notes.txt").stat().st_ino
    write(tree_of({"same": "x", "new/file": "2"}), folder)
    assert on_disk(folder) == {
        "same": "x",
        "new/file": "2",
        "notes.txt": foreign["notes.txt"],
        "old/mine": "mine too",
        LOCK: (folder / LOCK).read_text(),
    }
    assert (folder / "empty").is_dir()
    assert (folder / "link").readlink() == Path("/nowhere")
    assert (folder / "notes.txt").stat().st_ino == inode
    assert [p.name for p in tmp_path.iterdir()] == ["rendered"], "nothing is left beside the tree"


@pytest.mark.parametrize("path", ["a", "a/b", "a/b/c"])
def test_a_foreign_file_in_our_place_is_never_replaced(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "rendered"
    folder.mkdir()
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text("mine")
    ours = "a/b" if path == "a" else path if path == "a/b" else "a/b"
    with pytest.raises(ClustergenError, match="was not made by clustergen"):
        write(tree_of({ours: "ours"}), folder)
    assert on_disk(folder) == {path: "mine"}


def test_hand_edits_are_seen_and_mended(tmp_path: Path) -> None:
    folder = tmp_path / "rendered"
    tree = tree_of({"a": "1", "b": "2"})
    write(tree, folder)
    (folder / "a").write_text("edited")
    (folder / "b").chmod(0o755)
    assert [(d.path, d.kind) for d in differences(tree, folder)] == [("a", "changed"), ("b", "mode")]
    write(tree, folder)
    assert differences(tree, folder) == []


def test_a_broken_lock_file_ends_the_render(tmp_path: Path) -> None:
    folder = tmp_path / "rendered"
    write(tree_of({"a": "1"}), folder)
    (folder / LOCK).write_text("{")
    with pytest.raises(ClustergenError, match="nobody knows"):
        write(tree_of({"a": "2"}), folder)
    assert (folder / "a").read_text() == "1"


def test_a_lock_file_that_names_places_outside_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("stays")
    folder = tmp_path / "rendered"
    folder.mkdir()
    (folder / LOCK).write_text('{"files": {"../victim": {}, "/etc/passwd": {}}}')
    write(tree_of({"a": "1"}), folder)
    assert (tmp_path / "victim").read_text() == "stays"


def test_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "rendered").write_text("a file")
    with pytest.raises(ClustergenError, match="not a folder"):
        write(tree_of({"a": "1"}), tmp_path / "rendered")
    assert (tmp_path / "rendered").read_text() == "a file"


def test_an_output_that_is_a_symbolic_link(tmp_path: Path) -> None:
    real = tmp_path / "elsewhere"
    real.mkdir()
    (tmp_path / "rendered").symlink_to(real)
    write(tree_of({"a": "1"}), tmp_path / "rendered")
    assert (tmp_path / "rendered").is_symlink()
    assert (real / "a").read_text() == "1"


_LOOP = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_write import tree_of
from clustergen.render.write import write
folder = Path(sys.argv[1])
trees = [tree_of({f"d{i % 7}/f{i}": f"{word} {i}" for i in range(200)}) for word in ("old", "new")]
print("ready", flush=True)
while True:
    for tree in trees:
        write(tree, folder)
"""


def test_killed_at_any_moment_the_tree_is_one_or_the_other(tmp_path: Path) -> None:
    folder = tmp_path / "rendered"
    folder.mkdir()
    (folder / "foreign").write_text("mine")
    moments = random.Random(7)
    for _ in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", _LOOP, str(folder), str(Path(__file__).parent)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(moments.uniform(0.005, 0.15))
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=10)
        process.stdout.close()
        found = on_disk(folder)
        assert found.pop("foreign") == "mine"
        if found:
            found.pop(LOCK)
            assert len(found) == 200
            assert len({text.split()[0] for text in found.values()}) == 1, "half old, half new"
    write(tree_of({"a": "1"}), folder)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rendered"], "what killed renders left is gone"
