"""The nodes' nftables as rendered: services of the cluster are reached, and a port of nobody is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

PORT = 8888
LISTEN = f"systemd-run --quiet --unit=listener python3 -m http.server {PORT}"


def is_open(lab: Lab, source: str, target: str, port: int, seconds: int = 60) -> bool:
    """True if a node can connect to a port of another; a packet that is dropped counts as closed after this time."""
    return lab.run(source, f"timeout {seconds} bash -c 'exec 3<>/dev/tcp/{target}/{port}'").returncode == 0


def test_slurm_and_prometheus_work_behind_the_firewall(east: Lab) -> None:
    for host in east.addresses():
        assert "policy drop" in east.out(host, "nft list chain inet clustergen input")
    east.waits("east", "sinfo -h -o %T", r"\Aidle\s*\Z")
    assert east.out("east", "timeout 60 srun hostname", timeout=70) == "e1"  # e1 connects to srun's ports
    assert "COMPLETED" in east.waits("e1", "sacct -X -n -P -o State", "COMPLETED")
    query = "promtool query instant http://localhost:9090 'up{job=\"node\"} == 1'"
    east.waits("east", query, r'"e1[:"]')


def test_an_undeclared_port_is_closed_for_other_nodes(east: Lab) -> None:
    try:
        for host in ("east", "e1"):
            east.out(host, LISTEN)
            east.waits(host, f"ss -Hltn 'sport = :{PORT}'", str(PORT))
        assert is_open(east, "e1", "localhost", PORT)
        assert not is_open(east, "east", "e1", PORT, 2)
        assert not is_open(east, "e1", "east", PORT, 2)
        assert is_open(east, "e1", "east", 6817)
        east.out("e1", "systemctl stop clustergen-nftables")
        assert is_open(east, "east", "e1", PORT)
        east.out("e1", "systemctl start clustergen-nftables")
        assert not is_open(east, "east", "e1", PORT, 2)
    finally:
        for host in ("east", "e1"):
            east.run(host, "systemctl stop listener; systemctl start clustergen-nftables")
