"""Jobs: their GPUs, their environment, their accounting, and what runs before and after them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from clustergen.hostlist import expand

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

# What opening each device file says: a stub without a driver has no such device; a job that may not, no permission.
OPENS = """python3 -c "
import errno, json, os
def word(gpu):
    try:
        os.close(os.open(f'/dev/nvidia{gpu}', os.O_RDWR))
    except OSError as error:
        return errno.errorcode[error.errno]
    return 'opened'
print(json.dumps([word(gpu) for gpu in range(8)]))
"
"""


@pytest.fixture(autouse=True)
def no_jobs(lab: Lab) -> Iterator[None]:
    yield
    lab.clear()


def gpus_of(lab: Lab, job: str) -> set[int]:
    """Which GPUs of its node slurmctld gave the job."""
    output = lab.out("slurm-head", f"scontrol -d show job {job}")
    match = re.search(r"GRES=gpu:h100:\d+\(IDX:([\d,-]+)\)", output)
    assert match, output
    return {int(number) for number in expand(f"[{match[1]}]")}


def test_all_nodes_are_idle_with_eight_gpus(lab: Lab) -> None:
    rows = lab.out("login1", "sinfo -h -N -p gpu-training -O NodeList:20,StateLong:20,Gres:60").splitlines()
    assert [row.split()[:2] for row in rows] == [[f"compute0{n}", "idle"] for n in (1, 2, 3)]
    assert all(re.fullmatch(r"gpu:h100:8(\(.*\))?", row.split()[2]) for row in rows), rows


def test_three_nodes_with_all_their_gpus(lab: Lab) -> None:
    output = lab.out(
        "login1",
        "cd /tmp && runuser -u dave -- srun -N3 --gpus-per-node=8 bash -c 'echo $(hostname) $SLURM_GPUS_ON_NODE'",
    )
    assert sorted(output.splitlines()) == [f"compute0{n} 8" for n in (1, 2, 3)]


def test_a_job_opens_its_gpus_and_no_others(lab: Lab) -> None:
    # Two at once on one node: neither gets at the other's.
    script = OPENS + "\nsleep 300"
    jobs = [lab.submit("alice", script, "--gpus=3", "-c1", "-w compute01") for _ in range(2)]
    allowed: list[set[int]] = []
    for job in jobs:
        output = lab.waits("compute01", f"cat /tmp/job-{job}", r"\]$")
        opened = json.loads(output)
        allowed.append({gpu for gpu in range(8) if opened[gpu] in ("ENXIO", "ENODEV")})
        assert {opened[gpu] for gpu in range(8) if gpu not in allowed[-1]} == {"EPERM"}, output
        assert allowed[-1] == gpus_of(lab, job)
        assert len(allowed[-1]) == 3
    assert not allowed[0] & allowed[1]
    # A job without GPUs has none.
    none = lab.submit("bob", OPENS, "-c1", "-w compute01")
    assert set(json.loads(lab.waits("compute01", f"cat /tmp/job-{none}", r"\]$"))) == {"EPERM"}


def test_accounting_counts_gpus_by_type(lab: Lab) -> None:
    job = lab.submit("carol", "true", "--gpus=3", "-c1")
    output = lab.waits("slurm-head", f"sacct -X -n -P -j {job} -o State,Account,QOS,AllocTRES", "^COMPLETED")
    state, account, qos, tres = output.split("|")
    assert (state, account, qos) == ("COMPLETED", "language", "normal")
    counted = dict(item.split("=", 1) for item in tres.split(","))
    assert counted["gres/gpu"] == counted["gres/gpu:h100"] == "3"
    assert counted["billing"] == "3000"


def test_a_task_has_the_settings_of_nccl_and_its_own_directory(lab: Lab) -> None:
    settings = re.findall(
        r"^(?:NCCL|UCX)_\w+=.*$", lab.out("compute01", "cat /etc/nccl.conf /etc/ucx/ucx.conf"), re.MULTILINE
    )
    assert settings
    task = 'env; echo "directory $(stat -c "%U %a" $TMPDIR) $SLURM_JOB_ID"'
    output = lab.out(
        "login1", f"cd /tmp && NCCL_IB_HCA=mine runuser -u alice -- srun --gpus=1 -w compute02 bash -c '{task}'"
    )
    lines = output.splitlines()
    user_setting = "NCCL_IB_HCA=mine"
    assert user_setting in lines
    assert not [line for line in settings if line not in lines and not line.startswith("NCCL_IB_HCA=")]
    directory = re.search(r"^directory alice 700 (\d+)$", output, re.MULTILINE)
    assert directory, output
    assert f"TMPDIR=/scratch/{directory[1]}" in lines


def test_prolog_and_epilog_do_their_part(lab: Lab) -> None:
    job = lab.submit("alice", "touch $TMPDIR/left; sleep 300", "--gpus=2", "-w compute03")
    # The batch script is not a task of srun's, but Slurm runs the task prolog for it as well.
    lab.waits("compute03", f"ls /scratch/{job}", "^left$")
    node = lab.host("compute03")
    assert node.file(f"/scratch/{job}").user == "alice"
    assert node.file(f"/scratch/{job}").mode == 0o700
    for gpu in gpus_of(lab, job):
        assert node.file(f"/run/dcgm-job-mapping/{gpu}").content_string.split() == [job]
    assert lab.out("compute03", "ls /run/dcgm-job-mapping | wc -l") == "2"
    lab.out("slurm-head", f"scancel {job}")
    lab.idle()
    assert not node.file(f"/scratch/{job}").exists
    assert lab.out("compute03", "ls /run/dcgm-job-mapping") == ""


def test_a_prolog_that_fails_drains_the_node_and_keeps_the_job(lab: Lab) -> None:
    # The health check would drain the node first, and the job would not start there.
    lab.out("compute02", "mount --bind /bin/true /etc/slurm/health && rm /dev/nvidia0")
    try:
        job = lab.submit("alice", "true", "--gpus=8", "-w compute02")
        lab.waits("slurm-head", "sinfo -h -N -n compute02 -o '%T %E'", "^drain")
        held = "JobState=PENDING Reason=(JobHeldAdmin|launch_failed_requeued_held)"
        lab.waits("slurm-head", f"scontrol show job {job}", held)
        lab.waits("compute02", "journalctl -t slurm-prolog --no-pager", "GPU 0 does not respond")
    finally:
        lab.out("compute02", "mknod -m 666 /dev/nvidia0 c 195 0; umount /etc/slurm/health")
        lab.out("slurm-head", "scancel -u alice; scontrol update nodename=compute02 state=resume")
