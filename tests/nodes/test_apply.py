"""Applying, applying again, and repairing manual edits on nodes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

HOSTS = {"slurm-head", "monitor1", "login1", "compute01", "compute02", "compute03"}
NODES = ("compute01", "compute02", "compute03")


def invocations(lab: Lab) -> dict[str, str]:
    """When Slurm's daemons were last started, by node."""
    ask = "systemctl show -p InvocationID --value "
    values = {"slurm-head": lab.out("slurm-head", ask + "slurmctld slurmdbd")}
    return values | {node: lab.out(node, ask + "slurmd") for node in NODES}


def test_the_first_run_makes_the_cluster(lab: Lab) -> None:
    assert lab.first is not None
    assert set(lab.first.recap) == HOSTS
    assert all(not counts["failed"] and not counts["unreachable"] for counts in lab.first.recap.values())
    head = lab.host("slurm-head")
    for unit in ("munge", "mariadb", "slurmdbd", "slurmctld"):
        assert head.service(unit).is_running, unit
        assert head.service(unit).is_enabled, unit
    for node in NODES:
        assert lab.host(node).service("slurmd").is_running, node
    key = {host: lab.host(host).file("/etc/munge/munge.key").sha256sum for host in HOSTS - {"monitor1"}}
    assert len(set(key.values())) == 1
    assert lab.host("login1").file("/etc/munge/munge.key").mode == 0o400
    # munged of the image started before /etc/hosts named the node.
    for host, address in lab.addresses().items():
        if host != "monitor1":
            assert f"({address})" in lab.out(host, "munge -n | unmunge | grep ENCODE_HOST"), host


def test_hand_edits_are_shown_alone_and_corrected_without_a_restart(lab: Lab) -> None:
    before = invocations(lab)
    lab.out("compute01", "echo '# by hand' >>/etc/slurm/slurm.conf")
    lab.out("compute02", "sed -i 's/^MessageTimeout=.*/MessageTimeout=21/' /etc/slurm/slurm.conf")
    lab.out("compute03", "chmod 600 /etc/slurm/gres.conf")
    lab.out("slurm-head", "chown nobody /etc/slurm/topology.conf")

    shown = lab.apply("--check", "--diff")
    assert shown.rc == 0, shown.stdout
    marked = [line for line in shown.stdout.splitlines() if re.match(r"[-+](?!--|\+\+)", line)]
    mode, owner = ["+mode 0644", "-mode 0600"], ["+owner root:root", "-owner nobody:root"]
    assert sorted(marked) == sorted(["+MessageTimeout=20", "-MessageTimeout=21", "-# by hand", *mode, *owner]), (
        shown.stdout
    )
    edited = {"compute01", "compute02", "compute03", "slurm-head"}
    assert {host for host, counts in shown.recap.items() if counts["changed"]} == edited
    assert "by hand" in lab.out("compute01", "cat /etc/slurm/slurm.conf")

    mended = lab.apply()
    assert mended.rc == 0, mended.stdout
    assert {host for host, counts in mended.recap.items() if counts["changed"]} == edited
    assert "by hand" not in lab.out("compute01", "cat /etc/slurm/slurm.conf")
    assert lab.out("compute02", "grep ^MessageTimeout= /etc/slurm/slurm.conf").startswith("MessageTimeout=20")
    assert lab.host("compute03").file("/etc/slurm/gres.conf").mode == 0o644
    assert lab.host("slurm-head").file("/etc/slurm/topology.conf").user == "root"
    assert invocations(lab) == before


def test_a_further_run_changes_nothing(lab: Lab) -> None:
    before = invocations(lab)
    done = lab.apply()
    assert done.rc == 0, done.stdout
    assert set(done.recap) == HOSTS
    assert done.changed == 0, done.stdout
    assert invocations(lab) == before


def test_a_slurmctld_that_aborts_is_started_again(lab: Lab) -> None:
    ask = "systemctl show -p InvocationID --value slurmctld"
    before = lab.out("slurm-head", ask)
    lab.out("slurm-head", "systemctl kill --signal=ABRT slurmctld")
    lab.waits("slurm-head", f"{ask}; scontrol ping", rf"\A(?!{before})\w+\s[\s\S]* UP$")
