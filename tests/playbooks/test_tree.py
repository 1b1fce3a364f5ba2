"""The tree as the action plugins read it: damage is detected, and each host gets its files."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible.errors import AnsibleError

from ansible_collections.clustergen.cluster.plugins.plugin_utils.tree import Tree, of_groups, paths_of, units_of
from clustergen.render.write import write
from strategies.trees import manifest, tree_of

CONF = "overlays/slurm_node/etc/slurm/slurm.conf"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write(tree_of(manifest(), tmp_path), tmp_path / "rendered")
    return tmp_path / "rendered"


@pytest.mark.slow
def test_a_tree_as_rendered_has_no_damage(place: Path) -> None:
    assert list(Tree(place).damage()) == []


def test_a_file_edited_removed_or_added_by_hand_is_named(place: Path) -> None:
    (place / CONF).write_text("SlurmctldHost=x\n")
    (place / "site.yml").unlink()
    (place / "overlays/slurm_node/etc/motd").write_text("hello\n")
    items = list(Tree(place).damage())
    assert [text.partition(" ")[0].rstrip(":") for text in items] == [CONF, "site.yml", "overlays/slurm_node/etc/motd"]


def test_a_directory_without_a_lock_file_says_what_makes_one(tmp_path: Path) -> None:
    with pytest.raises(AnsibleError, match="clustergen render") as refusal:
        Tree(tmp_path)
    assert refusal.value.__cause__ is None  # Ansible would print its message as well, which is the same


def test_a_host_gets_the_files_of_its_groups_but_for_those_left_out(place: Path) -> None:
    both = {"group_names": ["slurm_compute", "slurm_node"]}
    targets = {file["target"] for file in Tree(place).of_host(both)}
    assert {"/etc/slurm/slurm.conf", "/etc/hosts"} < targets
    assert "/etc/slurm/slurm.conf" not in {file["target"] for file in Tree(place).of_host({"group_names": []})}
    without = {**both, "cluster_without_files": ["/etc/slurm/*"]}
    assert not [file for file in Tree(place).of_host(without) if file["target"].startswith("/etc/slurm/")]


def test_an_edit_that_is_meant_counts_as_wanted(place: Path) -> None:
    (place / CONF).write_text("SlurmctldHost=x\n")
    variables = {"group_names": ["slurm_node"]}
    digests = [
        {f["target"]: f["sha256"] for f in Tree(place).of_host({**variables, **more})}
        for more in ({}, {"cluster_edited_ok": "true"})
    ]
    assert digests[0]["/etc/slurm/slurm.conf"] != digests[1]["/etc/slurm/slurm.conf"]
    assert digests[0]["/etc/hosts"] == digests[1]["/etc/hosts"]


def test_lists_of_groups_are_joined_once_and_in_order() -> None:
    table = {"all": ["chrony"], "other": ["x"], "mine": ["munge", "chrony"]}
    assert of_groups(table, {"group_names": ["mine"]}) == ["chrony", "munge"]
    variables = {
        "group_names": [],
        "cluster_units": {"all": ["a.service", "nvidia-x.service"]},
        "cluster_without_units": ["nvidia-*"],
    }
    assert units_of(variables)[0] == ["a.service"]
    variables["cluster_paths"] = {"all": ["/etc/wekaio/service.conf", "/tank/home"], "other": ["/x"]}
    assert paths_of({**variables, "cluster_without_files": ["/etc/wekaio/*"]}) == ["/tank/home"]
