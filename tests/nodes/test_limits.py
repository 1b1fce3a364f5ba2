"""Shares, limits and preemption: what the manifest promises to users is what the scheduler does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]


@pytest.fixture(autouse=True)
def no_jobs(lab: Lab) -> Iterator[None]:
    yield
    lab.clear()


def states(lab: Lab, jobs: list[str]) -> list[str]:
    """State and reason of each job, in the order given."""
    output = lab.out("slurm-head", f"squeue -h -j {','.join(jobs)} -o '%A %T %r'")
    rows = {row.split()[0]: row.split(maxsplit=1)[1] for row in output.splitlines()}
    return [rows[job] for job in jobs]


def waits_for_states(lab: Lab, jobs: list[str], expected: list[str]) -> None:
    """A job that runs has the reason Prolog for a moment, and one that waits gets its own with the next pass."""
    rows = "\n".join(f"{job} {state}" for job, state in zip(jobs, expected, strict=True))
    show = f"squeue -h -j {','.join(jobs)} -o '%A %T %r' | sort -n"
    lab.waits("slurm-head", show, rf"\A{re.escape(rows)}\s*\Z")


def test_shares_are_those_of_the_manifest(lab: Lab) -> None:
    accounts = lab.document()["slurm"]["accounts"]
    output = lab.out("slurm-head", "sshare -a -n -P -o Account,User,RawShares,NormShares")
    rows = [[cell.strip() for cell in row.split("|")] for row in output.splitlines()]
    shares = {account: (int(raw), float(norm)) for account, user, raw, norm in rows if not user and account != "root"}
    assert {name: raw for name, (raw, _) in shares.items()} == {
        name: one["fairshare"] for name, one in accounts.items()
    }
    assert shares["research"][1] / shares["operations"][1] == pytest.approx(4, rel=0.01)
    assert shares["vision"][1] == pytest.approx(shares["language"][1])
    people = {(account, user) for account, user, *_ in rows if user and user != "root"}
    assert people == {(name, user) for name, one in accounts.items() for user in one.get("users", ())}


def test_the_user_with_less_usage_goes_first(lab: Lab) -> None:
    # Earlier tests leave usage behind; only carol's counts here. Then both ask for more than fits, carol first.
    lab.out("slurm-head", "sacctmgr -i modify account where name=research,operations set RawUsage=0")
    used = lab.submit("carol", "sleep 25", "-N2 --gpus-per-node=8")
    lab.waits("slurm-head", f"sacct -X -n -P -j {used} -o State", "^COMPLETED")
    # Usage counts at once, the share that follows from it once a calculation period.
    compare = """awk -F'|' '{ gsub(/ /, "", $1); share[$1] = $2 } END { print share["alice"] - share["carol"] }'"""
    lab.waits("slurm-head", f"sshare -a -n -P -o User,FairShare | {compare}", r"\A0[.]")
    blocker = lab.submit("dave", "sleep 300", "-N3 --gpus-per-node=8")
    lab.waits("slurm-head", f"squeue -h -j {blocker} -o %T", "RUNNING")
    carol = lab.submit("carol", "sleep 300", "-N2 --gpus-per-node=8")
    alice = lab.submit("alice", "sleep 300", "-N2 --gpus-per-node=8")
    both = f"(?s)^{carol} .*^{alice} |^{alice} .*^{carol} "
    factors = lab.waits("slurm-head", "sprio -h -o '%i %F'", both)
    fairshare = {job: int(value) for job, value in (row.split() for row in factors.splitlines())}
    assert fairshare[alice] > fairshare[carol]
    lab.out("slurm-head", f"scancel {blocker}")
    lab.waits("slurm-head", f"squeue -h -j {alice} -o %T", "RUNNING")
    assert states(lab, [carol])[0].startswith("PENDING")


def test_a_user_has_no_more_gpus_at_once_than_the_qos_gives(lab: Lab) -> None:
    jobs = [lab.submit("alice", "sleep 300", "-N1 --gpus=8") for _ in range(3)]
    other = lab.submit("bob", "sleep 300", "-N1 --gpus=8")
    lab.waits("slurm-head", f"squeue -h -j {other} -o %T", "RUNNING")
    waits_for_states(lab, jobs, ["RUNNING None", "RUNNING None", "PENDING QOSMaxGRESPerUser"])


def test_a_user_has_no_more_jobs_at_once_than_the_qos_gives(lab: Lab) -> None:
    jobs = [lab.submit("dave", "sleep 300", "--gpus=1 -c1") for _ in range(5)]
    waits_for_states(lab, jobs, [*["RUNNING None"] * 4, "PENDING QOSMaxJobsPerUserLimit"])


def test_a_qos_that_an_account_has_not_is_refused(lab: Lab) -> None:
    done = lab.run("login1", "cd /tmp && runuser -u dave -- sbatch -q scavenger --gpus=1 --wrap true")
    assert done.returncode
    assert "Invalid qos specification" in done.stderr


def test_leftovers_give_way_and_go_back_to_the_queue(lab: Lab) -> None:
    left = [lab.submit("alice", "sleep 300", "-q scavenger -N1 --gpus=8") for _ in range(3)]
    lab.waits("slurm-head", f"squeue -h -t R -j {','.join(left)} -o %A | wc -l", "^3$")
    urgent = lab.submit("dave", "sleep 300", "-N1 --gpus=8")
    lab.waits("slurm-head", f"squeue -h -j {urgent} -o %T", "RUNNING")
    # A job that is preempted is completing for a moment before it is in the queue again.
    show = f"squeue -h -j {','.join(left)} -o '%T %A' | sort"
    back = lab.waits("slurm-head", show, r"\APENDING \d+\s(RUNNING \d+\s*){2}\Z").split()[1]
    assert "Restarts=1" in lab.out("slurm-head", f"scontrol show job {back}")
    # What is everyday work is preempted by nobody but high, and preempts leftovers only.
    lab.out("slurm-head", f"scancel {' '.join(left)}")
    normal = [lab.submit(user, "sleep 300", "-N1 --gpus=8") for user in ("alice", "bob")]
    lab.waits("slurm-head", f"squeue -h -t R -j {','.join(normal)} -o %A | wc -l", "^2$")
    waiting = lab.submit("carol", "sleep 300", "-N1 --gpus=8")
    second = lab.submit("dave", "sleep 300", "-N1 --gpus=8")
    lab.waits("slurm-head", f"squeue -h -j {second} -o %T", "RUNNING")
    lab.waits("slurm-head", f"squeue -h -j {','.join(normal)} -o %T | sort", r"\APENDING\sRUNNING\s*\Z")
    assert states(lab, [waiting])[0].startswith("PENDING")
