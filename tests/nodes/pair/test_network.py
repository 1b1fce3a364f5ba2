"""Interfaces of a node that runs: a change that is confirmed, and one after which the node cannot be reached."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

PLAYBOOK = Path(sys.executable).with_name("ansible-playbook")
FILES = "/etc/network/interfaces.d"
LOG = "/var/lib/clustergen/network/log"


def network(lab: Lab, **changes: object) -> subprocess.CompletedProcess[str]:
    """The playbook `network` for e1, after other values of the management network."""
    lab.edit(lambda document: document["networks"]["management"].update(changes))
    done = lab.apply("-e", "cluster_hosts=e1")
    assert done.rc == 0, done.said
    command = [str(PLAYBOOK), "clustergen.cluster.network", "-e", "nodes=e1", "-e", "seconds=20"]
    return subprocess.run(
        command,
        cwd=lab.work.folder,
        env=lab.work.environment(),
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def test_a_change_is_kept_if_the_node_comes_back_and_undone_if_not(east: Lab) -> None:
    try:
        good = network(east, mtu=1400)
        assert good.returncode == 0, good.stdout
        assert "mtu 1400" in east.out("e1", "ip link show eth0")
        assert "confirmed" in east.out("e1", f"tail -n 1 {LOG}")
        kept = east.out("e1", f"cat {FILES}/*")

        # Another port, which leads nowhere: the node's address is on it until the timer runs.
        east.out("e1", "ip link add eth1 type veth peer name nowhere && ip link set nowhere up")
        bad = network(east, interface="eth1")
        assert bad.returncode != 0
        assert "it was not reachable with its new network" in bad.stdout
        assert "rolled back" in east.out("e1", f"tail -n 1 {LOG}")
        assert east.out("e1", f"cat {FILES}/*") == kept
        assert "mtu 1400" in east.out("e1", "ip link show eth0")
        east.waits("east", "sinfo -h -o %T", r"\Aidle\s*\Z")
    finally:
        east.run("e1", "ip link del eth1")
        east.restore()
