"""A second cluster joins the federation with the first one's slurmdbd: jobs of one cluster run on the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def members(pair: Lab, east: Lab) -> Iterator[None]:
    """Both clusters are members for this file only: in later ones, the other cluster would take jobs."""
    pair.waits("head1", "scontrol show federation", r"Sibling: +test-east:.*Recv:Yes/Yes Synced:Yes")
    yield
    pair.out("head1", "scancel -u root; sacctmgr -i modify federation campus set clusters-=test-east")
    pair.waits("head1", "scontrol show federation | grep -c Sibling", r"\A0\s*\Z")
    pair.waits("head1", "sinfo -h -o %T", r"\Aidle\s*\Z")


def submit(lab: Lab, options: str, script: str) -> str:
    words = f"sbatch --parsable -D /tmp -o /tmp/job-%j {options} --wrap '{script}'"
    return lab.out("head1", words).partition(";")[0]


def ended(lab: Lab, job: str) -> str:
    """Cluster, node and state of a job in the accounting database of the federation, once it has ended."""
    return lab.waits("head1", f"sacct --federation -X -n -P -j {job} -o Cluster,NodeList,State", "COMPLETED|FAILED")


def test_a_job_for_the_other_cluster_runs_there(pair: Lab, east: Lab) -> None:
    job = submit(pair, "-M test-east", "hostname")
    assert ended(pair, job) == "test-east|e1|COMPLETED"
    assert east.out("e1", f"cat /tmp/job-{job}") == "e1"


def test_a_job_whose_cluster_is_full_runs_on_the_other(pair: Lab, east: Lab) -> None:
    pair.waits("head1", "sinfo -h -o %T", r"\Aidle\s*\Z")
    full = submit(pair, "--exclusive -w n1", "sleep 600")
    pair.waits("head1", f"squeue -h -j {full} -o %T", "RUNNING")
    job = submit(pair, "", "hostname")
    assert ended(pair, job) == "test-east|e1|COMPLETED"
    assert int(job) >> 26 == int(full) >> 26  # number of the cluster that accepted the job
    assert east.out("e1", f"cat /tmp/job-{job}") == "e1"
    rows = [f"{full}|test-two-heads|RUNNING", f"{job}|test-east|COMPLETED"]
    show = f"sacct --federation -X -n -P -o JobID,Cluster,State -j {full},{job} | sort -t '|' -k 2r"
    pair.waits("head1", show, r"\A" + r"\s".join(map(re.escape, rows)) + r"\s*\Z")
