"""Interfaces of a node that runs: changes that are confirmed, and others after which the node cannot be reached."""

from __future__ import annotations

import base64
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from strategies.trees import node_files, tree_of

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
    assert done.rc == 0, done.stdout
    command = [str(PLAYBOOK), "clustergen.cluster.network", "-e", "nodes=e1", "-e", "seconds=20"]
    return subprocess.run(
        command,
        cwd=lab.work.directory,
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
        east.waits("e1", f"tail -n 1 {LOG}", "rolled back")  # the address is back a moment before
        assert east.out("e1", f"cat {FILES}/*") == kept
        assert "mtu 1400" in east.out("e1", "ip link show eth0")
        east.waits("east", "sinfo -h -o %T", r"\Aidle\s*\Z")
    finally:
        east.run("e1", "ip link del eth1")
        east.restore()


PROGRAM, CONFIG = "/usr/local/sbin/clustergen-network", "/etc/clustergen-network"
VALUES = "/etc/clustergen/network.sh"
# netplan needs a udev, which does not start on its own where /sys is read-only.
SYSTEMS = {
    "ubuntu-24.04": (
        "netplan.io",
        "/usr/lib/systemd/systemd-udevd --daemon",
        "systemd-networkd systemd-networkd.socket",
    ),
    "rocky-9": ("network-manager", "systemctl start NetworkManager", "NetworkManager"),
}
BEGIN = f"""
tar -C / -cf /root/before.tar {PROGRAM[1:]} {CONFIG[1:]} {VALUES[1:]}
printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d
trap 'rm /usr/sbin/policy-rc.d' EXIT
DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends {{package}} >/dev/null 2>&1
{{start}} >/dev/null 2>&1
rm -rf /var/lib/clustergen/network {FILES}/*clustergen-*
ip link add eth1 type veth peer name nowhere && ip link set nowhere up
"""
END = f"""
systemctl mask --now {{services}}; pkill -x systemd-udevd
ip link del eth1; ip addr replace {{address}} dev eth0; ip route replace default via {{gateway}}
rm -rf {CONFIG} /var/lib/clustergen/network /etc/netplan/*; tar -C / -xf /root/before.tar
"""
STATE = """
ip -4 -o addr show to 10.89.105.2 | while read -r _ name _ address _; do
  echo "$name $address $(cat /sys/class/net/$name/mtu)"
done
ip route show default | cut -d ' ' -f 3,5
tail -n 1 /var/lib/clustergen/network/log | cut -d ' ' -f 2-
"""


@pytest.mark.parametrize("system", SYSTEMS)
def test_netplan_and_networkmanager_keep_and_undo_changes(system: str, east: Lab, tmp_path: Path) -> None:
    """Debian's packages of both on a node, with the program and the files of the tree for the other system."""
    package, start, services = SYSTEMS[system]
    management = east.document()["networks"]["management"]
    address, gateway = "10.89.105.2/29", management["gateway"]

    def on_node(script: str) -> list[str]:
        """By the container's engine, as the node has no network for a moment."""
        return east.engine("exec", "{e1}", "bash", "-c", script).splitlines()

    def changes(end: str, **values: object) -> None:
        document = east.document() | {"os": system}
        document["networks"]["management"] = management | values
        files = node_files(tree_of(document, tmp_path), "e1")
        ours = {path: file.content for path, file in files.items() if path.startswith((PROGRAM, VALUES, f"{CONFIG}/"))}
        put = [f"mkdir -p {CONFIG}/management; rm -f {CONFIG}/management/*"]
        for path, content in ours.items():
            put.append(f"echo {base64.b64encode(content).decode()} | base64 -d >'{path}'; chmod 755 '{path}'")
        assert on_node("\n".join([*put, f"clustergen-network apply 60 >/tmp/log 2>&1 || cat /tmp/log; {end}"])) == []

    def until(*state: str) -> None:
        """networkd and NetworkManager set addresses and MTUs after the program has ended, too."""
        end = time.monotonic() + 50  # the node's timer runs 60 s
        while (lines := [line.strip() for line in on_node(STATE)]) != list(state):
            assert time.monotonic() < end, lines
            time.sleep(0.3)

    try:
        on_node(BEGIN.format(package=package, start=start))
        kept = [f"eth0 {address} 1400", f"{gateway} eth0"]
        changes("clustergen-network confirm >/dev/null", mtu=1400)
        until(*kept, "confirmed")
        changes("", interface="eth1", mtu=1300)
        until(f"eth1 {address} 1300", f"{gateway} eth1", "confirmed")
        on_node("clustergen-network rollback >/dev/null 2>&1")
        until(*kept, "rolled back")
        if system == "rocky-9":
            connection = "nmcli -g DEVICE,CONNECTION device | grep -x eth0:clustergen-management-eth0"
            on_node(f"timeout 50 bash -c 'until {connection}; do sleep 0.3; done'")
    finally:
        on_node(END.format(services=services, address=address, gateway=gateway))
