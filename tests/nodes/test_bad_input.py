"""Broken nodes: each gets one line with the reason, the others are applied, and a second run continues."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Document, Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

HEAD = "slurm-head"
FILL = "head -c 100M /dev/zero 2>/dev/null >{directory}/fill; true"
JOURNAL = "/var/lib/clustergen"


def problems_of(output: str, host: str) -> list[str]:
    """The summary's lines of a host on which the run failed."""
    return re.findall(rf"^  {host} +((?:failed|unreachable): .*)$", output, re.MULTILINE)


def limit(minutes: int) -> Callable[[Document], None]:
    """A change for every node that has Slurm's files."""

    def edit(document: Document) -> None:
        document["slurm"]["partitions"]["debug"]["max_time"] = f"00:{minutes}:00"

    return edit


def on(host: str, value: Any, otherwise: Any) -> str:
    """A variable that has another value on one host."""
    return "{{ %s if inventory_hostname == '%s' else %s }}" % (json.dumps(value), host, json.dumps(otherwise))  # noqa: UP031


def playbook(lab: Lab, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The lab's playbook on the tree as it lies there."""
    command = [str(Path(sys.executable).with_name("ansible-playbook")), str(lab.tree / "site.yml"), *arguments]
    return subprocess.run(
        command, env=lab.work.environment(), cwd=lab.work.directory, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=900, check=False,
    )  # fmt: skip


def test_failures_are_reported_others_are_served_and_a_second_run_continues(lab: Lab) -> None:
    unfit_hosts(lab)
    failures_half_way(lab)
    again = lab.apply()
    assert again.rc == 0, again.stdout
    for host in ("compute01", "compute02", "compute03", "login1"):
        assert "00:42:00" in lab.out(host, "grep PartitionName=debug /etc/slurm/slurm.conf")
    assert lab.host("compute01").service("prometheus-node-exporter").is_running
    assert lab.apply().changed == 0
    lab.idle()


def unfit_hosts(lab: Lab) -> None:
    lab.edit(limit(41))
    clock = {"cluster_clock_tolerance": on("login1", -1, 300)}
    lab.engine("stop", "--time", "0", "{compute01}")
    try:
        lab.out("compute02", f"mount -t tmpfs -o size=64k none {JOURNAL}; " + FILL.format(directory=JOURNAL))
        lab.out("compute03", "hostname compute07")
        lab.out("monitor1", "sed -i.kept 's/^VERSION_ID=.*/VERSION_ID=\"12\"/' /etc/os-release")
        lab.out("monitor1", "mount --bind /etc /etc && mount -o remount,ro,bind /etc")
        done = playbook(lab, "-e", json.dumps(clock))
    finally:
        lab.engine("start", "{compute01}")
        lab.out("compute02", f"umount {JOURNAL}")
        lab.out("compute03", "hostname compute03")
        lab.out("monitor1", "umount /etc && mv /etc/os-release.kept /etc/os-release")
    assert done.returncode != 0
    (down,) = problems_of(done.stdout, "compute01")
    assert down.startswith("unreachable: ")
    assert problems_of(done.stdout, "compute02") == [
        "failed: /var/lib/clustergen cannot be written: no space left on device"
    ]
    assert problems_of(done.stdout, "compute03") == [
        "failed: its hostname is compute07, not compute03: hostnamectl set-hostname compute03"
    ]
    assert problems_of(done.stdout, "monitor1") == [
        "failed: runs debian 12 but the manifest states debian 13; /etc is mounted read-only"
    ]
    (clock_line,) = problems_of(done.stdout, "login1")
    assert re.match(r"failed: its clock is \d+ s (ahead|behind)", clock_line)
    assert problems_of(done.stdout, HEAD) == []
    assert re.search(rf"^{HEAD} .* changed=[1-9]\d* .* failed=0 ", done.stdout, re.MULTILINE)
    assert "MaxTime=00:41:00" in lab.out(HEAD, "scontrol show partition debug")

    lab.waits("compute01", "systemctl is-system-running", "running|degraded")


def failures_half_way(lab: Lab) -> None:
    """A disk that is full where the files go, a package that nobody has, a mirror that does not answer.

    compute01 began bare, so apt knows there which packages its mirror has.
    """
    lab.edit(limit(42))
    missing = {"packages_extra": on("compute02", ["clustergen-no-such-package"], [])}
    lab.out("compute03", "cp -a /etc/slurm /run/kept && mount -t tmpfs -o size=1m none /etc/slurm")
    lab.out("compute03", "cp -a /run/kept/. /etc/slurm; " + FILL.format(directory="/etc/slurm"))
    lab.out(
        "compute01",
        "mkdir /run/apt; mv /var/cache/apt/archives/*.deb /etc/apt/sources.list* /run/apt; "
        "mkdir /etc/apt/sources.list.d; "
        "echo 'deb [trusted=yes] http://127.0.0.1:9/debian trixie main' >/etc/apt/sources.list; "
        "dpkg --purge --force-depends prometheus-node-exporter 2>&1",
    )
    try:
        done = lab.apply("-e", json.dumps(missing))
    finally:
        lab.out("compute03", "umount /etc/slurm; rm -r /run/kept")
        lab.out(
            "compute01",
            "rm -r /etc/apt/sources.list /etc/apt/sources.list.d; mv /run/apt/*.deb /var/cache/apt/archives; "
            "mv /run/apt/* /etc/apt; rmdir /run/apt",
        )
    assert done.rc != 0
    (full,) = problems_of(done.stdout, "compute03")
    assert re.search(r"/etc/slurm\S*: no space left on device", full), full
    (package,) = problems_of(done.stdout, "compute02")
    assert package.startswith(
        "failed: missing package: clustergen-no-such-package is in none of this host's repositories"
    )
    (mirror,) = problems_of(done.stdout, "compute01")
    assert mirror.startswith("failed: unreachable mirror: http://127.0.0.1:9/debian")
    assert "prometheus-node-exporter" in mirror
    assert "failed at Files: Install files and apply their effects: compute03" in done.stdout
    assert re.search(r"^changed as far as the run came: \S*login1", done.stdout, re.MULTILINE)
    assert "MaxTime=00:42:00" in lab.out(HEAD, "scontrol show partition debug")
    assert "00:42:00" in lab.out("login1", "grep PartitionName=debug /etc/slurm/slurm.conf")


def test_mistakes_on_the_command_line_are_reported_before_any_node_is_asked(lab: Lab) -> None:
    done = playbook(lab, "-e", "cluster_drian_timeout=5", "-e", "cluster_drain_batch=lots", "--tags", "slurm")
    assert done.returncode != 0
    assert "have no tags" in done.stdout
    assert "cluster_drain_batch is 'lots', but must be a number of nodes" in done.stdout
    assert "did you mean cluster_drain_timeout?" in done.stdout
    assert "Compare hosts with the tree" not in done.stdout


def test_an_edited_tree_is_reported_before_any_change(lab: Lab) -> None:
    lab.edit(limit(43))
    ask = "stat -c %Y.%i /etc/slurm/slurm.conf /var/lib/clustergen/state.json"
    before = {host: lab.out(host, ask) for host in ("slurm-head", "compute01")}
    lock = lab.tree / "clustergen.lock.json"
    document = json.loads(lock.read_text(encoding="utf-8"))
    lock.write_text(json.dumps({**document, "clustergen": "0.0.1"}), encoding="utf-8")
    done = playbook(lab)
    assert done.returncode != 0
    assert re.search(r"the tree was made by clustergen 0\.0\.1, and \S+ would apply it: render it again", done.stdout)
    lab.render()
    stranger = lab.tree / "overlays/all/etc/stranger.conf"
    stranger.write_text("by hand\n", encoding="utf-8")
    hosts_file = next(place for place in lab.tree.glob("overlays/*/etc/hosts"))
    hosts_file.write_text(hosts_file.read_text(encoding="utf-8") + "10.0.0.1 by-hand\n", encoding="utf-8")
    done = playbook(lab)
    assert done.returncode != 0
    assert "etc/hosts was edited by hand" in done.stdout
    assert "overlays/all/etc/stranger.conf is not of this tree" in done.stdout
    assert {host: lab.out(host, ask) for host in before} == before
    stranger.unlink()


def test_one_run_at_a_time(lab: Lab) -> None:
    """The second run brings the first manifest back."""
    lab.restore()
    note = {"id": "another", "who": "ann", "host": "another", "pid": 7, "began": 0, "open": True}
    lab.out(HEAD, f"mkdir -p /run/clustergen && echo '{json.dumps(note)}' >/run/clustergen/run.json")
    done = playbook(lab)
    assert done.returncode != 0
    assert "a run of ann on another (process 7) applies to this cluster since" in done.stdout
    assert "MaxTime=00:30:00" not in lab.out(HEAD, "cat /etc/slurm/slurm.conf; scontrol show partition debug")
    done = playbook(lab, "-e", "cluster_other_run_ok=true")
    assert done.returncode == 0, done.stdout
    assert "MaxTime=00:30:00" in lab.out(HEAD, "scontrol show partition debug")
    assert json.loads(lab.out(HEAD, "cat /run/clustergen/run.json"))["open"] is False
    lab.idle()
