"""Rendered trees as sides of a diff: whole, edited, broken."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from strategies.diffs import COMMAND, LONGER, diff, error_of, rendered, write


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["{", "{}", '{"format": 99, "files": {}}', '{"format": 1, "files": {"a": 1}}'])
def test_a_broken_tree(tmp_path: Path, broken: str) -> None:
    tree = rendered(write(tmp_path / "a"))
    (tree / "clustergen.lock.json").write_text(broken)
    done = subprocess.run(
        [*COMMAND, "diff", str(tree), str(tree)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "content", "words"),
    [
        ("clustergen.lock.json", b"\xff\x00\x80", "cannot be read"),
        ("inventory/hosts.ini", b"\xff\xfe", "a value is not text"),
        ("inventory/hosts.ini", b"head\n", "for a group that inventory/hosts.ini lacks"),
        ("inventory/hosts.ini", b"head\n[a:children]\na\n", "for a group that inventory/hosts.ini lacks"),
        ("inventory/group_vars/all.yml", b'slurm_release: "24.11\n', "group_vars/all.yml is not valid YAML"),
        ("inventory/group_vars/all.yml", b"slurm_release: '24.11'\n", "there is no 'cluster_name'"),
        ("inventory/group_vars/all.yml", b"- a\n", "has an unexpected type"),
    ],
)
def test_a_tree_with_a_broken_file(tmp_path: Path, path: str, content: bytes, words: str) -> None:
    tree = rendered(write(tmp_path / "a"))
    (tree / path).write_bytes(content)
    text = error_of(str(tree), tmp_path / "a")
    assert words in text
    assert "render the tree again" in text


@pytest.mark.slow
def test_a_tree_cannot_name_files_outside_of_it(tmp_path: Path) -> None:
    tree = rendered(write(tmp_path / "a"))
    lock = json.loads((tree / "clustergen.lock.json").read_text())
    lock["files"]["../../secret"] = next(entry for entry in lock["files"].values() if "group" in entry)
    (tree / "clustergen.lock.json").write_text(json.dumps(lock))
    (tmp_path / "secret").write_text("x")
    assert "'../../secret' is outside the tree" in error_of(str(tree), tmp_path / "a")


@pytest.mark.slow
def test_a_file_that_the_tree_lost(tmp_path: Path) -> None:
    tree = rendered(write(tmp_path / "a"))
    (lost,) = tree.glob("overlays/*/etc/slurm/slurm.conf")
    lost.unlink()
    text = error_of(str(tree), tmp_path / "a")
    assert "etc/slurm/slurm.conf: no such file" in text
    assert "hint: render the tree again" in text


@pytest.mark.slow
def test_another_name_of_the_manifest_is_no_difference_to_its_tree(tmp_path: Path) -> None:
    tree = rendered(write(tmp_path / "a"))
    other = write(tmp_path / "b").rename(tmp_path / "b/other.yaml")
    for sides in ((tree, other), (other, tree), (other, tmp_path / "a/manifest.yaml")):
        assert diff(*sides).stdout == f"small: no change\n{' → '.join(map(str, sides))}, Slurm 24.11\n"


@pytest.mark.slow
def test_an_edited_tree_is_compared_as_it_is(tmp_path: Path) -> None:
    tree = rendered(write(tmp_path / "a"))
    (conf,) = tree.glob("overlays/*/etc/slurm/slurm.conf")
    conf.write_text(conf.read_text().replace("SlurmdTimeout=300", "SlurmdTimeout=301"))
    done = diff(tmp_path / "a/manifest.yaml", tree)
    assert "SlurmdTimeout: 300 → 301" in done.stdout


@pytest.mark.slow
def test_manifest_tree_and_directory_are_the_same_side(tmp_path: Path) -> None:
    old, new = write(tmp_path / "a"), write(tmp_path / "b", LONGER)
    items = []
    for one in (old, rendered(old), old.parent):
        for other in (new, rendered(new), new.parent):
            done = diff(one, other, "--format", "json")
            assert done.exit_code == 1
            (cluster,) = json.loads(done.stdout)["clusters"]
            rows = [(c["kind"], c["name"], c["key"], c["old"], c["new"]) for c in cluster["changes"]]
            labels = [value["label"] for change in cluster["changes"] for value in change["manifest"]]
            items.append((rows, labels, cluster["verdict"], cluster["steps"]))
    assert items == [items[0]] * len(items)
    assert items[0][1]


@pytest.mark.slow
def test_directories_of_clusters(tmp_path: Path) -> None:
    for name in ("same", "changed", "gone"):
        write(tmp_path / "old" / name)
    write(tmp_path / "new/same")
    write(tmp_path / "new/changed", LONGER)
    write(tmp_path / "new/fresh")
    done = diff(tmp_path / "old", tmp_path / "new", "--format", "json")
    data = json.loads(done.stdout)
    assert done.exit_code == 1
    assert [cluster["new"]["name"] for cluster in data["clusters"]] == [f"{tmp_path}/new/changed/manifest.yaml"]
    assert (data["clusters_added"], data["clusters_removed"]) == (["fresh"], ["gone"])
    assert diff(tmp_path / "old", tmp_path / "old").exit_code == 0
    assert "fresh: a new cluster" in diff(tmp_path / "old", tmp_path / "new").stdout
