"""Playbooks in a directory without an inventory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).with_name("ansible-playbook")


def play(directory: Path, playbook: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HOME": str(directory), "LANG": "C.UTF-8", "ANSIBLE_NOCOLOR": "1", **settings}
    return subprocess.run(
        [PROGRAM, playbook], cwd=directory, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("playbook", ["drain", "discover"])
def test_playbooks_report_a_missing_inventory(playbook: str, tmp_path: Path) -> None:
    done = play(tmp_path, f"clustergen.cluster.{playbook}", ANSIBLE_COLLECTIONS_PATH=str(ROOT / "playbooks"))
    assert done.returncode
    assert '"msg": "no inventory: run this in ' in done.stdout
