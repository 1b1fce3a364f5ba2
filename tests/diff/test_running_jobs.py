"""Running jobs that a change may end, although nothing is restarted or drained for it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clustergen.catalogue.slurm_jobs import AffectedJobs
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.messages import _states
from clustergen.diff.preemption import preemptible
from clustergen.diff.slurm import slurm_changes
from strategies.diffs import MANIFEST, diff, write

CONF = """\
ClusterName=small
SlurmctldHost=head
NodeName=c[1-4] CPUs=4
PartitionName=batch Nodes=ALL
PartitionName=urgent Nodes=ALL PriorityTier=10
"""
BY_TIER = "PreemptType=preempt/partition_prio\n"
BY_QOS = "PreemptType=preempt/qos\n"
LISTED = "running jobs may be preempted by jobs of a QOS that lists theirs"
TIERS = "running jobs may be preempted by jobs of partitions with a higher PriorityTier"
CANCELLED = "running jobs that are preempted are cancelled, unless their partition or QOS states another mode"
LEFT_SUSPENDED = "running jobs that are suspended for others at that time may stay so: resume them with scontrol resume"
REQUEUED = "running jobs that are preempted are requeued and start over, or cancelled if they cannot be"
ENFORCE = "AccountingStorageEnforce"
SILENT = "jobs on a node that has not answered for 5 s are killed or requeued"
LATE = "batch jobs that need more than 10 s, not 60 s, to start end or are requeued"
NOT_ANSWERED = "NODE_FAIL, FAILED"
SLOW = "jobs and steps fail to start, and nodes count as not responding, where"
PROLOG = "jobs whose prolog needs more than 60 s are requeued, and nodes whose prolog or epilog needs more drain"
BOOTING = "jobs on nodes that need more than 60 s, not 600 s, to boot are requeued or end"
LIMITED = "running jobs end when they or their group reach a limit on TRES minutes or wall time"
KILLED = "running jobs that reach their time limit or are cancelled are killed 30 s after SIGTERM, not 60 s"


def running(old: str, new: str) -> dict[str, str]:
    """Sentence → state, of two texts of slurm.conf."""
    sides = ({"/etc/slurm/slurm.conf": side} for side in (old, new))
    changes = slurm_changes(*sides, SlurmRelease("24.11"))
    return {jobs.text: jobs.state for change in changes for jobs in change.running}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", f"{BY_QOS}PreemptMode=CANCEL\n", {LISTED: "PREEMPTED", CANCELLED: "PREEMPTED"}),
        ("", f"{BY_TIER}PreemptMode=REQUEUE\n", {TIERS: "PREEMPTED", REQUEUED: "PENDING, PREEMPTED"}),
        (f"{BY_QOS}PreemptMode=REQUEUE\n", f"{BY_QOS}PreemptMode=CANCEL\n", {CANCELLED: "PREEMPTED"}),
        (
            f"{BY_QOS}PreemptMode=SUSPEND,GANG\n",
            f"{BY_QOS}PreemptMode=CANCEL\n",
            {CANCELLED: "PREEMPTED", LEFT_SUSPENDED: "SUSPENDED"},
        ),
        (f"{BY_QOS}PreemptMode=CANCEL\n", f"{BY_QOS}PreemptMode=REQUEUE\n", {}),
        (f"{BY_QOS}PreemptMode=CANCEL\nPreemptExemptTime=1:0:0\n", "", {}),  # off: nothing is preempted any more
        (
            f"{BY_QOS}PreemptExemptTime=01:00:00\n",
            BY_QOS,
            {"running jobs may be preempted once they have run for 00:00:00, not only after 01:00:00": "PREEMPTED"},
        ),
        ("PreemptExemptTime=01:00:00\n", "", {}),
        ("OverTimeLimit=10\n", "", {"running jobs end 0 min after their time limit, not 10 min": "TIMEOUT"}),
        ("OverTimeLimit=10\n", "OverTimeLimit=UNLIMITED\n", {}),
        (
            "",
            "InactiveLimit=120\n",
            {"running jobs of srun and salloc end once that command has not answered for 120 s": "TIMEOUT"},
        ),
        ("InactiveLimit=120\n", "InactiveLimit=0\n", {}),
        (
            "KillWait=60\n",
            "",
            {KILLED: "TIMEOUT, CANCELLED"},
        ),
        ("", "SlurmdTimeout=5\n", {SILENT: "NODE_FAIL, PENDING"}),
        ("SlurmdTimeout=0\n", "SlurmdTimeout=5\n", {SILENT: "NODE_FAIL, PENDING"}),
        ("SlurmdTimeout=5\n", "SlurmdTimeout=0\n", {}),
        ("", "SlurmdTimeout=400\n", {}),
        ("BatchStartTimeout=60\n", "", {LATE: "NODE_FAIL, PENDING"}),
        (
            "MessageTimeout=30\n",
            "",
            {f"{SLOW} a daemon needs more than 10 s, not 30 s, to answer": NOT_ANSWERED},
        ),
        ("TCPTimeout=5\n", "", {f"{SLOW} a connection needs more than 2 s, not 5 s": NOT_ANSWERED}),
        ("", "PrologEpilogTimeout=60\n", {PROLOG: "PENDING"}),
        ("PrologEpilogTimeout=300\n", "PrologEpilogTimeout=60\n", {PROLOG: "PENDING"}),
        ("PrologEpilogTimeout=300\n", "", {}),
        ("ResumeTimeout=600\n", "", {BOOTING: "NODE_FAIL, PENDING"}),
        ("ResvOverRun=10\n", "", {"running jobs of a reservation end 0 min after it, not 10 min": "TIMEOUT"}),
        (f"{ENFORCE}=limits,safe\n", f"{ENFORCE}=limits\n", {LIMITED: "TIMEOUT"}),
        (f"{ENFORCE}=associations\n", f"{ENFORCE}=associations,limits\n", {LIMITED: "TIMEOUT"}),
        (f"{ENFORCE}=all\n", f"{ENFORCE}=limits\n", {LIMITED: "TIMEOUT"}),
        (f"{ENFORCE}=limits\n", f"{ENFORCE}=limits,safe\n", {}),
        (f"{ENFORCE}=limits\n", f"{ENFORCE}=all\n", {}),
        (f"{ENFORCE}=limits,safe\n", f"{ENFORCE}=associations\n", {}),
    ],
)
def test_settings_that_count_for_running_jobs(old: str, new: str, expected: dict[str, str]) -> None:
    assert running(CONF + old, CONF + new) == expected


BATCH, URGENT = "PartitionName=batch Nodes=ALL", "PriorityTier=10"


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ((BATCH, f"{BATCH} PreemptMode=CANCEL"), ["running jobs of partition batch that are preempted are cancelled"]),
        ((BATCH, f"{BATCH} OverTimeLimit=5"), ["running jobs of partition batch end 5 min after their time limit"]),
        (
            (URGENT, "PriorityTier=20"),
            ["running jobs on nodes of urgent may be preempted if their partition has a PriorityTier below 20"],
        ),
        (
            (URGENT, f"{URGENT}\nPartitionName=now Nodes=c1 PriorityTier=30"),
            ["running jobs on nodes of now may be preempted if their partition has a lower PriorityTier"],
        ),
        ((BATCH, f"{BATCH} GraceTime=60"), []),
    ],
)
def test_partitions_that_count_for_running_jobs(edit: tuple[str, str], expected: list[str]) -> None:
    assert list(running(CONF + BY_TIER, CONF.replace(*edit) + BY_TIER)) == expected
    over_time = ["running jobs of partition batch end 5 min after their time limit"]
    assert list(running(CONF, CONF.replace(*edit))) == (expected if expected == over_time else [])


def test_other_billing_weights_are_named() -> None:
    new = CONF.replace(BATCH, f"{BATCH} TRESBillingWeights=CPU=2")
    sides = ({"/etc/slurm/slurm.conf": side} for side in (CONF, new))
    (change,) = slurm_changes(*sides, SlurmRelease("24.11"))
    assert [effect.kind for effect in change.effects] == ["reconfigure"]
    assert change.reason.startswith("other billing weights: running jobs are billed by the old ones until they end")


POLICY = """\
  preemption: {by: qos, mode: requeue}
  qos:
    normal: {}
    high: {preempt: [normal], exempt_time: 1h, grace_time: 5min}
    urgent: {preempt: [high]}
  accounts: {science: {qos: [normal, high, urgent], users: [carol]}}
"""


def plan(directory: Path, *edits: tuple[str, str]) -> dict[str, Any]:
    sides = write(directory / "a", text=MANIFEST + POLICY), write(directory / "b", *edits, text=MANIFEST + POLICY)
    (cluster,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
    assert isinstance(cluster, dict)
    return cluster


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (
            ("preempt: [high]", "preempt: [high, normal]"),
            ["running jobs of QOS normal may be preempted by jobs of QOS urgent"],
        ),
        (
            ("urgent: {", "now: {preempt: [high]}\n    urgent: {"),
            ["running jobs of QOS high may be preempted by jobs of QOS now"],
        ),
        (
            ("normal: {}", "normal: {preempt_mode: cancel}"),
            ["running jobs of QOS normal that are preempted are cancelled"],
        ),
        (
            (", exempt_time: 1h", ""),
            ["running jobs of QOS high may be preempted once they have run for 0, not only after 01:00:00"],
        ),
        (
            ("grace_time: 5min", "grace_time: 1min"),
            ["running jobs of QOS high that are preempted have 60 s to end, not 300 s"],
        ),
        (("preempt: [normal], ", ""), []),
    ],
)
def test_qos_that_count_for_running_jobs(tmp_path: Path, edit: tuple[str, str], expected: list[str]) -> None:
    cluster = plan(tmp_path, edit)
    assert [jobs["text"] for jobs in cluster["running"]] == expected
    assert ("running jobs may end early (PREEMPTED)" in cluster["verdict"]) is bool(expected)
    assert ("no job is lost" in cluster["verdict"]) is not bool(expected)


LIMITS = """\
  accounting: {enforce: [associations, limits, qos]}
  qos: {normal: {}}
  accounts: {science: {users: [carol]}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (
            ("science: {", "science: {group_tres_minutes: {gres/gpu: 60}, "),
            ["running jobs of account science end once its jobs have used gres/gpu=60 minutes"],
        ),
        (
            ("normal: {", "normal: {max_tres_minutes_per_job: {gres/gpu: 60}"),
            ["running jobs of QOS normal end once they have used gres/gpu=60 minutes"],
        ),
        (
            ("normal: {", "normal: {group_wall: 2h"),
            ["running jobs of QOS normal end once its jobs have run for 02:00:00 together"],
        ),
    ],
)
def test_limits_that_are_not_safe_end_running_jobs(tmp_path: Path, edit: tuple[str, str], expected: list[str]) -> None:
    """acct_policy_job_time_out() of slurmctld, which returns at once where limits are safe."""
    for enforce, texts in (("limits, qos", expected), ("limits, qos, safe", [])):
        text = MANIFEST + LIMITS.replace("limits, qos", enforce)
        sides = write(tmp_path / f"a{len(texts)}", text=text), write(tmp_path / f"b{len(texts)}", edit, text=text)
        (cluster,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
        assert [jobs["text"] for jobs in cluster["running"]] == texts
        assert ("running jobs may end early (TIMEOUT)" in cluster["verdict"]) is bool(texts)


@pytest.mark.slow
def test_a_lower_time_for_unkillable_steps_drains_nodes(tmp_path: Path) -> None:
    sides = [
        write(tmp_path / name, text=f"{MANIFEST}  unkillable_step_timeout: {seconds}\n")
        for name, seconds in (("a", 300), ("b", 60))
    ]
    (cluster,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
    assert "no running job is lost, but pending jobs may wait or fail (ReqNodeNotAvail)" in cluster["verdict"]
    (jobs,) = cluster["pending"]
    assert jobs["text"].startswith("a node drains 60 s, not 300 s, after it began to kill a step that does not end")


@pytest.mark.slow
def test_without_preemption_by_qos_lists_say_nothing(tmp_path: Path) -> None:
    off = ("preemption: {by: qos, mode: requeue}", "preemption: {by: off}")
    sides = [
        write(tmp_path / name, off, *edits, text=MANIFEST + POLICY)
        for name, edits in (("a", ()), ("b", (("preempt: [high]", "preempt: [high, normal]"),)))
    ]
    (cluster,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
    assert (cluster["running"], "no job is lost" in cluster["verdict"]) == ([], True)


@pytest.mark.slow
def test_terminals_and_pull_requests_show_them(tmp_path: Path) -> None:
    sides = [
        write(tmp_path / name, ("mode: requeue", f"mode: {mode}"), text=MANIFEST + POLICY)
        for name, mode in (("a", "requeue"), ("b", "cancel"))
    ]
    text, markdown = (diff(*sides, "--format", format_).stdout for format_ in ("text", "markdown"))
    assert f"\nrunning jobs\n  {CANCELLED}: PREEMPTED\n" in text
    assert "it applies to running jobs too" in text
    assert "running jobs continue" not in text
    assert f"**Running jobs**\n\n- {CANCELLED}: `PREEMPTED`\n" in markdown


def test_a_qos_whose_name_is_a_part_of_another_one_is_gained_all_the_same() -> None:
    release = SlurmRelease("24.11")
    listed = [{("qos", "high"): {"Preempt": names}} for names in ("scavenger", "scavenger,scav")]
    (jobs,) = preemptible(*listed, "high", "Preempt", release)
    assert "scav" in re.findall(r"\w+", jobs.text)


def test_the_verdict_names_each_state_once() -> None:
    jobs = [AffectedJobs("of a QOS", "PENDING, PREEMPTED"), AffectedJobs("of a partition", "PREEMPTED")]
    assert _states(jobs) == " (PENDING, PREEMPTED)"
