"""Two controllers with one state folder, and nodes without GPUs: what the other lab cannot show.

When the first controller is killed, the second takes over. Another SelectType is refused while jobs are there.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clustergen.lab.work import Work

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

NAME = "test-two-heads"
MANIFEST = f"""\
name: {NAME}
os: debian-13
networks:
  management: {{cidr: 10.89.104.0/28, domain: two.example.org}}
node_types:
  small: {{cpu: {{sockets: 1, cores_per_socket: 4}}, memory: 8GiB}}
nodes:
  - {{name: head1, type: service, address: 10.89.104.1, roles: [slurm-controller, slurm-accounting]}}
  - {{name: head2, type: service, address: 10.89.104.2, roles: [slurm-controller]}}
  - {{name: n1, type: small, address: 10.89.104.3}}
slurm:
  version: "24.11"
  state_location: /srv/state/slurm
  options: {{SlurmctldTimeout: 5}}
storage:
  state: {{type: nfs, mount: /srv/state, server: nfs.example.org, path: /state, clients: [slurm-controller]}}
"""

LINEAR = {"SelectType": "select/linear", "SelectTypeParameters": "CR_Memory"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, lab: Lab) -> Iterator[Lab]:
    """A lab of its own, beside the other."""
    made = type(lab).__new__(type(lab))
    made.folder = tmp_path_factory.mktemp("two-heads")
    made.file = Path(made.folder / "manifest.yaml")
    made.file.write_text(MANIFEST, encoding="utf-8")
    made.name, made.work = NAME, Work(NAME)
    try:
        done = made.verb("up")
        assert done.returncode == 0, done.stderr
        made._ssh_config()
        made.first = made.apply()
        assert made.first.rc == 0, made.first.said + made.first.stderr
        yield made
    finally:
        made.verb("down")


def test_the_second_controller_takes_over(pair: Lab) -> None:
    pair.waits("n1", "scontrol ping", r"head2.* is UP")
    job = pair.out("n1", "sbatch --parsable -D /tmp -o /dev/null --wrap 'sleep 600'")
    pair.waits("n1", f"squeue -h -j {job} -o %T", "RUNNING")
    # slurmctld saves changed jobs every five seconds; one that is killed before that has them start once more.
    time.sleep(8)
    before = pair.out("n1", f"squeue -h -j {job} -o '%T %S'")
    pair.out("head1", "systemctl kill -s KILL slurmctld; systemctl stop slurmctld")
    pair.waits("head2", f"timeout 5 squeue -h -j {job} -o %A", job, seconds=90)
    said = pair.out("head2", "scontrol ping || true")
    assert re.search("head1.* is DOWN", said)
    assert re.search("head2.* is UP", said)
    assert "ok" in pair.out("n1", "timeout 60 srun -n1 echo ok", timeout=70)
    assert pair.out("n1", f"squeue -h -j {job} -o '%T %S'") == before
    assert pair.out("n1", f"scontrol show job {job} | grep -o Restarts=.") == "Restarts=0"

    done = pair.apply()
    assert done.rc == 0, done.said
    pair.waits("head2", "scontrol ping", r"head1.* is UP", seconds=60)
    assert pair.out("n1", f"squeue -h -j {job} -o '%T %S'") == before
    assert pair.apply().changed == 0


def test_another_select_type_is_refused_while_jobs_are_there(pair: Lab, tmp_path: Path) -> None:
    job = pair.out("n1", "squeue -h -o %A")
    state = f"squeue -h -j {job} -o '%T %S'"
    running = pair.out("n1", state)
    runs = "systemctl show -p InvocationID -p MainPID slurmctld slurmd"
    before = {host: pair.out(host, runs) for host in pair.addresses()}
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    shutil.copy(pair.work.manifest, old)
    pair.edit(lambda document: document["slurm"]["options"].update(LINEAR))
    shutil.copy(pair.work.manifest, new)
    command = [sys.executable, "-m", "clustergen", "diff", str(old), str(new), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    (plan,) = json.loads(done.stdout)["clusters"]
    assert plan["worst"] == "refuse"
    plays = {step["text"]: step["play"] for step in plan["steps"]}
    assert "Jobs that would be lost" in plays.values()
    assert {"restart slurmctld", "restart slurmd; running jobs live on"} <= set(plays)

    refused = pair.apply()
    assert refused.rc != 0
    assert "1 jobs are there, and this change would lose them" in refused.said
    assert "SelectType" in refused.said
    assert refused.changed == 0
    assert {host: pair.out(host, runs) for host in pair.addresses()} == before
    assert pair.out("n1", state) == running
    assert pair.run("n1", "grep -r select/linear /etc/slurm").returncode == 1

    pair.out("n1", f"scancel {job}")
    pair.waits("n1", "squeue -h | wc -l", r"\A0\s*\Z")
    went = pair.apply()
    assert went.rc == 0, went.said
    assert all(pair.out(host, runs) != said for host, said in before.items())
    assert "select/linear" in pair.out("n1", "scontrol show config | grep ^SelectType")
    assert "ok" in pair.out("n1", "timeout 60 srun -n1 echo ok", timeout=70)
    assert pair.apply().changed == 0
