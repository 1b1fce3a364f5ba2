"""A tree is read by its lock file alone, and what is not as rendered is said."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from clustergen.diagnostics import ClustergenError
from clustergen.render.inventory_file import read_inventory
from clustergen.render.tree import LOCK
from clustergen.render.write import write
from clustergen.verify.checks import CHECKS
from clustergen.verify.files import read_tree
from clustergen.verify.node_roots import node_roots
from clustergen.verify.run import unclaimed, verify
from strategies.trees import manifest, tree_of

SLURM = "overlays/slurm_node/etc/slurm/slurm.conf"
TREE_CHECK = [check for check in CHECKS if check.name == "tree"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    directory = tmp_path / "rendered"
    write(tree_of(manifest(), tmp_path), directory)
    return directory


def change_lock(tree: Path, path: str, **facts: Any) -> None:
    lock = tree / LOCK
    document = json.loads(lock.read_text(encoding="utf-8"))
    document["files"].setdefault(path, {}).update(facts)
    lock.write_text(json.dumps(document), encoding="utf-8")


# --- the tree as it was rendered --------------------------------------------------------------------------------------


def test_an_untouched_tree_is_as_rendered(tree: Path) -> None:
    (row,) = verify(tree, TREE_CHECK)
    assert (row.status, row.files) == ("passed", (LOCK,))


def test_a_tree_is_read_without_its_manifest(tree: Path) -> None:
    (tree.parent / "manifest.yaml").unlink()
    tree_directory = read_tree(tree)
    assert (tree_directory.slurm_release, tree_directory.controllers) == ("24.11", ("head",))
    assert tree_directory.inventory.groups["slurm_compute"] == ("c1", "c2", "c3", "c4")


def test_changes_by_hand_are_reported(tree: Path) -> None:
    with (tree / SLURM).open("a", encoding="utf-8") as file:
        file.write("# mine\n")
    (tree / "overlays/all/etc/hosts").unlink()
    (tree / "overlays/slurm_controller/usr/local/sbin/clustergen-accounts").chmod(0o644)
    (tree / "overlays/all/etc/hosts.allow").write_text("ALL: ALL\n", encoding="utf-8")
    (row,) = verify(tree, TREE_CHECK)
    assert row.status == "failed"
    assert len(row.words) == 4
    assert f"{SLURM}: differs from the lock file: one of the two was edited by hand" in row.words
    assert "overlays/all/etc/hosts: missing, but listed in the lock file" in row.words
    assert any("clustergen-accounts: not executable" in word for word in row.words)
    assert any(word.startswith("overlays/all/etc/hosts.allow: not listed in the lock file") for word in row.words)


def test_a_file_that_no_check_knows_is_a_failure(tree: Path) -> None:
    stray = tree / "overlays/all/etc/unheard-of"
    stray.write_text("x\n", encoding="utf-8")
    (row,) = unclaimed(read_tree(tree))
    assert (row.check, row.status, row.files) == ("unclaimed", "failed", ("overlays/all/etc/unheard-of",))


@pytest.mark.slow
def test_a_sites_own_file_is_the_sites(tree: Path) -> None:
    (tree / "overlays/all/etc/motd").write_text("hello\n", encoding="utf-8")
    facts = {"group": "all", "target": "/etc/motd", "mode": "0644", "owner": "root:root", "effect": "none"}
    facts["sha256"] = sha256(b"hello\n").hexdigest()
    change_lock(tree, "overlays/all/etc/motd", **facts, source="site/all/etc/motd")
    (row,) = unclaimed(read_tree(tree))
    assert (row.check, row.status, row.files) == ("site", "no parser", ("overlays/all/etc/motd",))


def test_a_directory_without_a_lock_file_is_no_tree(tmp_path: Path) -> None:
    with pytest.raises(ClustergenError, match="so it is not a rendered tree"):
        read_tree(tmp_path)
    with pytest.raises(ClustergenError, match="not a directory"):
        read_tree(tmp_path / "nothing")


# --- hosts and groups -------------------------------------------------------------------------------------------------


def test_an_inventory_is_read_as_ansible_does() -> None:
    inventory = read_inventory(
        """\
# comment
head ansible_host=10.0.0.1
n01 ansible_host=10.0.0.11 x=y
n02 ansible_host=10.0.0.12

[compute]
n[01:02]

[cluster:children]
compute
heads

[heads]
head

[cluster:vars]
colour=blue

[loop:children]
loop
"""
    )
    assert inventory.groups["compute"] == ("n01", "n02")
    assert inventory.groups["cluster"] == ("n01", "n02", "head")
    assert inventory.groups["loop"] == ()
    assert inventory.groups["all"] == ("head", "n01", "n02")
    assert inventory.hosts["n01"] == {"ansible_host": "10.0.0.11", "x": "y"}
    assert "colour=blue" not in inventory.hosts
    assert inventory.by_host()["n01"] == {"all", "n01", "compute", "cluster"}


@pytest.mark.slow
def test_nodes_with_the_same_files_are_laid_out_once(tree: Path, tmp_path: Path) -> None:
    nodes = node_roots(read_tree(tree), tmp_path / "nodes")
    assert [node.hosts for node in nodes] == [("head",), ("c1", "c2", "c3", "c4")]
    head, compute = nodes
    assert (head.directory / "etc/slurm/slurmdbd.conf").is_file()
    assert not (compute.directory / "etc/slurm/slurmdbd.conf").exists()
    assert (compute.directory / "etc/slurm/prolog").stat().st_mode & 0o111
    assert compute.system == "debian_13"
    assert "c3" in compute.hosts_text


def test_a_group_without_hosts_is_not_passed_over(tree: Path, tmp_path: Path) -> None:
    (tree / "inventory/hosts.ini").unlink()
    nodes = node_roots(read_tree(tree), tmp_path / "nodes")
    laid_out = {entry.path for node in nodes for entry in node.files.values()}
    assert laid_out == {path for path, entry in read_tree(tree).entries.items() if entry.target}


# --- every kind of file has its check ---------------------------------------------------------------------------------


def test_every_check_has_a_name_of_its_own() -> None:
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names)


def test_every_file_of_a_tree_is_claimed(tree: Path) -> None:
    assert unclaimed(read_tree(tree)) == []
