"""site.yml on nodes without Slurm: the same questions, and no controller, no jobs and no daemon to wait for."""

from __future__ import annotations

from pathlib import Path

import pytest

from strategies.played_nodes import GOOD, Cluster, differs


@pytest.mark.slow
def test_a_plan_needs_no_controller(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, [], slurm=None, gpu={"persistence": True})
    idle = GOOD | {"running": []}
    cluster.set_answer("node_state", idle)
    status, output, _ = cluster.play("--check")
    assert status == 0, output
    assert "up to date" in output
    reboots = differs(None, "/etc/modprobe.d/clustergen-nvidia.conf", there=False)
    cluster.set_answer("good1.node_state", idle | reboots)
    status, output, _ = cluster.play("--check")
    assert status == 0, output
    assert "1 file" in output
