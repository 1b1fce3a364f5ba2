"""Two controllers with one state directory, and nodes without GPUs: what the other lab cannot show.

When the first controller is killed, the second takes over. Another SelectType is refused while jobs are there.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

LINEAR = {"resources": {"select": "linear"}}


def test_the_second_controller_takes_over(pair: Lab) -> None:
    pair.waits("n1", "scontrol ping", r"head1.* is UP[\s\S]*head2.* is UP")
    job = pair.out("n1", "sbatch --parsable -D /tmp -o /dev/null --wrap 'sleep 3000'")
    pair.waits("n1", f"squeue -h -j {job} -o %T", "RUNNING")
    # slurmctld saves changed jobs every five seconds; one that is killed before that has them start once more.
    pair.out("n1", f"scontrol update jobid={job} comment=this-is-saved")
    pair.waits("head2", "grep -c this-is-saved /srv/state/slurm/job_state", "1")
    before = pair.out("n1", f"squeue -h -j {job} -o '%T %S'")
    pair.out("head1", "systemctl kill -s KILL slurmctld; systemctl stop slurmctld")
    pair.waits("head2", f"timeout 5 squeue -h -j {job} -o %A", job)
    pair.waits("head2", "scontrol ping", r"head1.* is DOWN[\s\S]*head2.* is UP")
    assert "ok" in pair.out("n1", "timeout 200 srun -n1 echo ok", timeout=210)
    assert pair.out("n1", f"squeue -h -j {job} -o '%T %S'") == before
    assert pair.out("n1", f"scontrol show job {job} | grep -o Restarts=.") == "Restarts=0"

    done = pair.apply()
    assert done.rc == 0, done.stdout
    pair.waits("head2", "scontrol ping", r"head1.* is UP")
    pair.waits("n1", f"squeue -h -j {job} -o '%T %S'", rf"\A{re.escape(before)}\s*\Z")
    assert pair.apply().changed == 0


def test_another_select_type_is_refused_while_jobs_are_there(pair: Lab, tmp_path: Path) -> None:
    pair.out("n1", "scancel --user=root")
    job = pair.out("n1", "sbatch --parsable -D /tmp -o /dev/null --wrap 'sleep 3000'")
    pair.waits("n1", f"squeue -h -j {job} -o %T", "RUNNING")
    state = f"squeue -h -j {job} -o '%T %S'"
    running = pair.out("n1", state)
    runs = "systemctl show -p InvocationID -p MainPID slurmctld slurmd"
    before = {host: pair.out(host, runs) for host in pair.addresses()}
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    shutil.copy(pair.work.manifest, old)
    pair.edit(lambda document: document["slurm"].update(LINEAR))
    shutil.copy(pair.work.manifest, new)
    command = [sys.executable, "-m", "clustergen", "diff", str(old), str(new), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    (plan,) = json.loads(done.stdout)["clusters"]
    assert plan["worst"] == "refuse"
    plays = {step["text"]: step["play"] for step in plan["steps"]}
    assert "Jobs at risk" in plays.values()
    assert {"start slurmctld", "start slurmd"} <= set(plays)

    refused = pair.apply()
    assert refused.rc != 0
    assert "1 jobs are in the queue, and this change would lose them" in refused.stdout
    assert "SelectType" in refused.stdout
    assert refused.changed == 0
    assert {host: pair.out(host, runs) for host in pair.addresses()} == before
    assert pair.out("n1", state) == running
    assert pair.run("n1", "grep -r select/linear /etc/slurm").returncode == 1

    pair.out("n1", f"scancel {job}")
    pair.waits("n1", "squeue -h && echo none", r"\Anone\s*\Z")
    went = pair.apply()
    assert went.rc == 0, went.stdout
    assert all(pair.out(host, runs) != output for host, output in before.items())
    assert "select/linear" in pair.out("n1", "scontrol show config | grep ^SelectType")
    assert "ok" in pair.out("n1", "timeout 200 srun -n1 echo ok", timeout=210)
    assert pair.apply().changed == 0
