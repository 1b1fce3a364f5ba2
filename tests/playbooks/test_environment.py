"""Playbooks in an environment that lacks the collection, or in a directory without an inventory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from strategies.trees import COMPUTE, HEAD, manifest, tree_of

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).with_name("ansible-playbook")


def play(folder: Path, playbook: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HOME": str(folder), "LANG": "C.UTF-8", "ANSIBLE_NOCOLOR": "1", **settings}
    return subprocess.run(
        [PROGRAM, playbook], cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.slow
def test_site_yml_names_what_to_install_where_the_collection_is_missing(tmp_path: Path) -> None:
    tree = tree_of(manifest(nodes=[HEAD, COMPUTE]), tmp_path)
    (tmp_path / "site.yml").write_bytes(tree.files["site.yml"].content)
    none = str(tmp_path / "none")
    done = play(tmp_path, "site.yml", ANSIBLE_COLLECTIONS_PATH=none, ANSIBLE_COLLECTIONS_SCAN_SYS_PATH="false")
    assert done.returncode
    assert "install clustergen in the Python environment of ansible-playbook" in done.stderr
    assert "Could not find or access" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("playbook", ["drain", "discover"])
def test_playbooks_report_a_missing_inventory(playbook: str, tmp_path: Path) -> None:
    done = play(tmp_path, f"clustergen.cluster.{playbook}", ANSIBLE_COLLECTIONS_PATH=str(ROOT / "playbooks"))
    assert done.returncode
    assert '"msg": "no inventory: run this in ' in done.stdout
