"""Local disks."""

from __future__ import annotations

from pathlib import Path

import yaml

from strategies.file_systems import LOCAL, UNITS, stored
from strategies.trees import manifest, text_of, tree_of


def test_local_disk_is_waited_for_by_its_path(tmp_path: Path) -> None:
    text = text_of(stored(tmp_path, disk=LOCAL), "c1", f"{UNITS}/scratch.mount")
    assert "What=/dev/disk/by-label/scratch\n" in text
    assert "_netdev" not in text
    assert "WantedBy=local-fs.target\n" in text


def test_a_disk_of_one_node_type_is_a_unit_of_the_site(tmp_path: Path) -> None:
    unit = tmp_path / "site/type_gpu" / f"{UNITS}/scratch.mount".lstrip("/")
    unit.parent.mkdir(parents=True)
    unit.write_text("[Mount]\nWhat=/dev/disk/by-label/scratch\nWhere=/scratch\n\n[Install]\nWantedBy=local-fs.target\n")
    tree = tree_of(manifest(), tmp_path)
    assert "Where=/scratch\n" in text_of(tree, "c1", f"{UNITS}/scratch.mount")
    variables = next(file for file in tree if file.path == "inventory/group_vars/all.yml")
    assert "scratch.mount" in yaml.safe_load(variables.content)["cluster_units"]["type_gpu"]
