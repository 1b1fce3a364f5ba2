"""The health check, run by slurmd itself: it drains with a reason, and resumes only what it has drained."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

REMOVE = "rm /dev/nvidia7"
RESTORE = "test -e /dev/nvidia7 || mknod -m 666 /dev/nvidia7 c 195 7"


def node(lab: Lab, name: str, pattern: str) -> str:
    """State and reason of a node, once they match."""
    return lab.waits("slurm-head", f"sinfo -h -N -p gpu-training -n {name} -o '%T %E'", pattern)


def test_a_node_without_a_gpu_is_drained_and_comes_back_and_others_stay_drained(lab: Lab) -> None:
    try:
        lab.out("slurm-head", "scontrol update nodename=compute01 state=drain reason='new fans'")
        lab.out("compute01", REMOVE)
        lab.out("compute03", REMOVE)
        node(lab, "compute03", r"^drained clustergen: 7 of 8 GPUs respond \(10-gpu-count\); GPU 7")
        # A job that runs there would have ended in peace; a new one goes elsewhere.
        job = lab.submit("bob", "true", "--gpus=8")
        output = lab.waits("slurm-head", f"sacct -X -n -P -j {job} -o State,NodeList", "^COMPLETED")
        assert output == "COMPLETED|compute02"
        # The reason of the operator stays, although the check fails there too.
        lab.out("compute01", "/etc/slurm/health")
        assert node(lab, "compute01", "drained") == "drained new fans"

        lab.out("compute01", RESTORE)
        lab.out("compute03", RESTORE)
        node(lab, "compute03", "^idle none$")
        lab.out("compute01", "/etc/slurm/health")
        assert node(lab, "compute01", "drained") == "drained new fans"
    finally:
        for name in ("compute01", "compute03"):
            lab.out(name, RESTORE)
        lab.run("slurm-head", "scontrol update nodename=compute01,compute03 state=resume")
    lab.idle()
