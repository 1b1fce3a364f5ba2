"""A job does its worst on a node: the node stays in service, nobody else's files are touched, and the next job runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

NODE = "compute01"
# The mount has to come from root: the containers have no /dev/fuse. tests/render/test_drains.py has FUSE mounts.
WORST = r"""
cd "$TMPDIR" && mkdir many mnt && touch ready || exit 1
(cd many && seq {files} | xargs touch)
head -c 20M /dev/zero >/tmp/alice
cat /dev/zero >/dev/shm/alice
mkdir -m 777 /tmp/carol /dev/shm/carol
mkdir "/scratch/$((SLURM_JOB_ID + 1))" && exit 2
cp /bin/bash "NVRM: Xid (PCI:0000:1b:00): 79, x"
"./NVRM: Xid (PCI:0000:1b:00): 79, x" -c 'kill -SEGV $$'
until mountpoint -q mnt; do sleep 0.1; done
setsid bash -c 'trap "" TERM; sleep 300' &
ulimit -u 300 || exit 3
exec python3 -c '
import os, time
for number in range(400):
    try:
        child = os.fork()
    except BlockingIOError:  # the limit is reached
        os._exit(0)
    if not child:
        time.sleep(300)
os._exit(4)'
"""


@pytest.fixture(autouse=True)
def small_tmp(lab: Lab) -> Iterator[None]:
    """A /tmp on which 20 MB are enough to be short of space, and a /dev/shm that a job can fill."""
    for size, place in (("1030M", "/tmp"), ("64M", "/dev/shm")):
        lab.out(NODE, f"mount -t tmpfs -o size={size},mode=1777 small {place}")
    yield
    lab.out("slurm-head", "squeue -h -o %A | xargs -r scancel")
    lab.idle()
    lab.out(NODE, "umount -l /tmp /dev/shm")


@pytest.mark.parametrize("files", [100_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_a_job_that_does_its_worst_takes_no_node_out_of_service(files: int, lab: Lab) -> None:
    keep = "echo kept >/tmp/bob; echo kept >/dev/shm/bob; touch $TMPDIR/bob"
    other = lab.submit("bob", f"{keep}; sleep 300", "--gpus=1", "-c1", f"-w {NODE}", "-o /dev/null")
    lab.waits(NODE, f"ls /scratch/{other}", "^bob$")
    worst = lab.submit(
        "alice",
        f"exec bash -c {shlex.quote(WORST.format(files=files))}",
        "--gpus=1",
        "-c1",
        f"-w {NODE}",
        "-o /dev/null",
    )
    lab.waits(NODE, f"ls /scratch/{worst}", "^ready$")
    lab.out(NODE, f"mount -t tmpfs left /scratch/{worst}/mnt && touch /scratch/{worst}/mnt/file")
    lab.waits("slurm-head", f"sacct -X -n -P -j {worst} -o State", "^COMPLETED$")
    lab.waits("slurm-head", f"squeue -h -o %A -w {NODE}", rf"\A{other}\s*\Z")
    lab.out(NODE, "/etc/slurm/health", timeout=100)

    assert lab.out("slurm-head", f"sinfo -h -N -p gpu-training -n {NODE} -o '%T %E'") == "mixed none"
    assert lab.out(NODE, f"cat /tmp/bob /dev/shm/bob; ls /scratch/{other} /tmp /dev/shm; pgrep -cu alice || true") == (
        f"kept\nkept\n/dev/shm:\nbob\n\n/scratch/{other}:\nbob\n\n/tmp:\nbob\n0"
    )
    assert lab.out(NODE, "ls /scratch; grep -c ' /scratch/' /proc/self/mountinfo || true").split() == [other, "0"]
    journal = lab.out(
        NODE, "journalctl --sync; journalctl -t slurm-epilog -t slurm-health --no-pager -o cat --since -10min"
    )
    assert re.search(rf"job {worst}: 50-tmpdir: detached what the job left mounted: '/scratch/{worst}/mnt'", journal)
    assert re.search(r"^deleted \d+ files .* in /tmp of users without a job on this node: 2001$", journal, re.MULTILINE)
    next_job = lab.submit("carol", "touch $TMPDIR/carol", "--gpus=1", "-c1", f"-w {NODE}", "-o /dev/null")
    lab.waits("slurm-head", f"sacct -X -n -P -j {next_job} -o State", "^COMPLETED$")
    lab.waits(NODE, "ls -A /scratch/.removing | wc -l", "^0$")
