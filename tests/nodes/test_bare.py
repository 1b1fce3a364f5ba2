"""Bare nodes of all kinds: the first run installs all packages that the roles of each need."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from strategies.lab_nodes import LabNodes

pytestmark = [pytest.mark.container, pytest.mark.slow, pytest.mark.long]

MANIFEST = Path(__file__).parents[2] / "inventories/ml-training/manifest.yaml"
SUBNET = "10.89.108.0/24"


def test_a_bare_node_of_each_kind_is_applied_at_once(tmp_path: Path) -> None:
    made = LabNodes(tmp_path, "test-bare", MANIFEST.read_text(encoding="utf-8"))
    try:
        made.verb("up", "--scale", "1", "--subnet", SUBNET)
        made.verb("apply")
        again = made.verb("apply")
        assert re.findall(r"^(\S+) +: .* changed=0 .* failed=0", again, re.MULTILINE) == [
            "compute01",
            "login1",
            "monitor1",
            "slurm-head",
        ]
        assert made.waits("slurm-head", "sinfo -h -N -o %T | sort -u", r"\Aidle\s*\Z") == "idle"
        assert made.out("login1", "systemctl is-active munge") == "active"
        assert made.out("monitor1", "systemctl is-active prometheus prometheus-alertmanager").split() == ["active"] * 2
    finally:
        made.verb("down")
