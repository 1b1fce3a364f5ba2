"""Interrupted and killed runs: the next run continues, and running services are not affected."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Document, Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

HEAD = "slurm-head"
SEED = 29


def playbook(lab: Lab, *arguments: str) -> subprocess.Popen[bytes]:
    """The lab's playbook on the tree as it lies there, in a process group of its own; its words go to a file."""
    command = [str(Path(sys.executable).with_name("ansible-playbook")), str(lab.tree / "site.yml"), *arguments]
    with (lab.directory / "said").open("wb") as output:
        return subprocess.Popen(
            command, env=lab.work.environment(), cwd=lab.work.directory, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip


def ended(lab: Lab, started: subprocess.Popen[bytes], timeout: float = 300) -> tuple[int, str]:
    status = started.wait(timeout)
    return status, (lab.directory / "said").read_text(encoding="utf-8")


def tick(number: int) -> Callable[[Document], None]:
    """A change with something for every node: a file of Slurm's, one of Prometheus, a unit that restarts."""

    def edit(document: Document) -> None:
        document["slurm"]["partitions"]["debug"]["max_time"] = f"00:{31 + number}:00"
        document["networks"]["management"]["ntp"] = [f"ntp{number}.example.org"]
        document["monitoring"]["scrape_interval"] = 6 + number

    return edit


def journals(lab: Lab) -> dict[str, dict[str, object]]:
    return {host: json.loads(lab.out(host, "cat /var/lib/clustergen/state.json")) for host in lab.addresses()}


@pytest.mark.parametrize("points", [1, pytest.param(20, marks=pytest.mark.long)])
def test_a_run_that_was_killed_is_carried_on(lab: Lab, points: int) -> None:
    """Killed once in CI, and once in each of twenty parts of its time in `make long`."""
    lab.edit(tick(0))
    began = time.monotonic()
    status, output = ended(lab, playbook(lab))
    assert status == 0, output
    whole = time.monotonic() - began
    job = lab.submit("alice", "sleep 3000", "--gpus=1")
    lab.waits(HEAD, f"squeue -h -j {job} -o %T", "RUNNING")
    chance = random.Random(SEED)
    cut = 0
    for number in range(1, points + 1):
        if number < points:
            lab.edit(tick(number))
        else:  # as it was at first
            lab.restore()
        began = time.monotonic()
        started = playbook(lab)
        try:
            started.wait(whole * 0.9 * (number - 1 + chance.random()) / points)
            whole = time.monotonic() - began  # the machine was busier when it was measured
        except subprocess.TimeoutExpired:
            cut += 1
            os.killpg(started.pid, signal.SIGKILL)
        ended(lab, started)
        status, output = ended(lab, playbook(lab))
        assert status == 0, f"cut at point {number}: {output}"
        assert not re.search(r"changed=[1-9]", ended(lab, playbook(lab))[1]), f"cut at point {number}"
        minutes = 31 + number if number < points else 30
        assert f"MaxTime=00:{minutes}:00" in lab.out(HEAD, "scontrol show partition debug")
        assert {host: result["pending"] for host, result in journals(lab).items() if result["pending"]} == {}
    assert cut >= points / 2
    assert lab.out(HEAD, f"squeue -h -j {job} -o %T") == "RUNNING"
    lab.clear()


def test_jobs_run_without_the_database_and_are_accounted_for_later(lab: Lab) -> None:
    lab.out(HEAD, "systemctl stop mariadb")
    try:
        job = lab.submit("alice", "hostname", "--gpus=3")
        lab.waits(HEAD, f"scontrol show job {job}", "JobState=COMPLETED")
        assert lab.run(HEAD, f"timeout 20 sacct -n -X -P -j {job} -o State", timeout=30).stdout.strip() == ""
    finally:
        mended = lab.apply()
    assert mended.rc == 0, mended.stdout
    row = lab.waits(HEAD, f"sacct -n -X -P -j {job} -o State,Account,AllocTRES", "COMPLETED")
    assert row.startswith("COMPLETED|vision|")
    assert "gres/gpu=3" in row


def test_a_bad_slurm_conf_replaces_no_good_one(lab: Lab) -> None:
    files = [place for place in lab.tree.rglob("slurm.conf") if "overlays" in place.parts]
    assert files
    ask = "sha256sum /etc/slurm/slurm.conf; systemctl show -p InvocationID -p MainPID slurmctld slurmd"
    hosts = [host for host in lab.addresses() if lab.host(host).file("/etc/slurm/slurm.conf").exists]
    before = {host: lab.out(host, ask) for host in hosts}
    for place in files:
        place.write_text(place.read_text(encoding="utf-8") + "SelectTypo=select/cons_tres\n", encoding="utf-8")
    try:
        status, output = ended(lab, playbook(lab))
        assert status != 0
        assert "slurm.conf was edited by hand" in output
        assert "render it again, or set -e cluster_edited_ok=true" in output
        assert not re.search(r"changed=[1-9]", output)
        status, output = ended(lab, playbook(lab, "-e", "cluster_edited_ok=true"))
        assert status != 0
        assert "nothing was changed: slurmctld rejects these files" in output
        assert "SelectTypo" in output
    finally:
        lab.render()
    assert {host: lab.out(host, ask) for host in hosts} == before
    assert lab.apply().changed == 0
