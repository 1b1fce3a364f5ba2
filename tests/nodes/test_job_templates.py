"""Job templates of the guide for users, copied and submitted as the guide says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

# In place of a training with PyTorch: all processes meet at MASTER_ADDR, as torch.distributed would let them.
MEET = """\
import os, socket, time
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
local = os.environ["LOCAL_RANK"], os.uname().nodename
if rank:
    for _ in range(300):
        try:
            with socket.create_connection(address, 5) as peer:
                peer.sendall(f"{rank} {local[0]} {local[1]}".encode())
                break
        except OSError:
            time.sleep(0.1)
else:
    met = [f"0 {local[0]} {local[1]}"]
    with socket.create_server(("", address[1]), backlog=world) as server:
        server.settimeout(60)
        while len(met) < world:
            met.append(server.accept()[0].recv(100).decode())
    print("\\n".join(sorted(met, key=lambda line: int(line.split()[0]))))
"""
# Saves how far it is when Slurm sends USR1, as train.py does; the second run goes on from there.
RESUME = """\
import os, signal, sys, time
from pathlib import Path
state, rank = Path("state"), os.environ["RANK"]
def save(*_):
    if rank == "0":
        state.write_text("42")
    sys.exit(75)
signal.signal(signal.SIGUSR1, save)
if state.exists():
    print("goes on from", state.read_text(), flush=True)
    sys.exit(0)
print("ready", flush=True)
time.sleep(300)
"""


@pytest.fixture(autouse=True)
def no_jobs(lab: Lab) -> Iterator[None]:
    lab.out("login1", "runuser -l alice -c 'rm -rf ~/jobs; cp -r /usr/local/share/doc/cluster/jobs ~/jobs'")
    yield
    lab.clear()


def submit(lab: Lab, command: str, program: str = "") -> str:
    """The number of a job that alice submits in the copy of the templates; `program` is there as program.py."""
    if program:
        lab.out("login1", f"cat >/home/alice/jobs/program.py <<'END'\n{program}END")
    return lab.out("login1", f'runuser -l alice -c "cd jobs && sbatch --parsable {command}"')


def test_every_task_of_the_array_runs(lab: Lab) -> None:
    job = submit(lab, "array.sh")
    lab.waits("slurm-head", f"sacct -X -n -P -j {job} -o State | sort | uniq -c", r"\A\s*10 COMPLETED\s*\Z")
    assert "task 9 of 10 on compute" in lab.out("login1", f"cat /home/alice/jobs/array-{job}_9.out")


def test_processes_of_two_nodes_meet(lab: Lab) -> None:
    job = submit(lab, "pytorch-srun.sh program.py", MEET)
    lab.waits("slurm-head", f"sacct -X -n -P -j {job} -o State", "^COMPLETED")
    output = lab.out("login1", f"cat /home/alice/jobs/pytorch-srun-{job}.out")
    ranks = [line.split() for line in output.splitlines() if re.match(r"\d+ \d+ ", line)]
    assert [int(rank) for rank, _, _ in ranks] == list(range(16))
    assert [int(local) for _, local, _ in ranks] == [*range(8), *range(8)]
    assert [len({node for _, _, node in part}) for part in (ranks[:8], ranks[8:], ranks)] == [1, 1, 2]


def test_a_job_that_is_not_finished_is_queued_again_and_goes_on(lab: Lab) -> None:
    output = "/home/alice/jobs/requeue-{}.out"
    job = submit(lab, "requeue.sh program.py", RESUME)
    lab.waits("login1", f"grep -c ready {output.format(job)}", "^16$")
    lab.out("slurm-head", f"scancel --signal=USR1 {job}")  # as slurmctld does before the time limit
    lab.waits("slurm-head", f"scontrol -o show job {job}", "JobState=PENDING .*Restarts=1")
    lab.out("slurm-head", f"scontrol update job={job} starttime=now")  # Slurm would wait two minutes
    text = lab.waits("login1", f"cat {output.format(job)}", "goes on from 42")
    assert "run 1 is not finished: queued again" in text
    lab.waits("slurm-head", f"sacct -X -n -P -j {job} -o State", "^COMPLETED")


def test_without_an_account_slurm_refuses_in_the_words_of_the_guide(lab: Lab) -> None:
    done = lab.run("login1", "cd /tmp && runuser -u nobody -- sbatch /usr/local/share/doc/cluster/jobs/array.sh")
    words = "Invalid account or account/partition combination specified"
    assert done.returncode != 0
    assert words in done.stderr
    assert words in lab.out("login1", "cat /usr/local/share/doc/cluster/guide.md").replace("\n", " ")
