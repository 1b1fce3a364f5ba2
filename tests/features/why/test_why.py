"""`why` explains each reason for which a real slurmctld lets a job wait, and what it advises helps."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from clustergen.catalogue.tables import rows
from conftest import EACH_RELEASE, require_slurm
from effects.configuration import Configuration, node, option, partition
from effects.measure import prepare, run
from strategies.trees import manifest, node_files, tree_of

PROGRAMS = Path(__file__).parents[3] / "programs"
FILES = {
    "/usr/local/bin/why": "jobs/why.py",
    "/usr/local/lib/clustergen/slurm_limits.py": "lib/slurm_limits.py",
    "/usr/local/lib/clustergen/slurm_records.py": "lib/slurm_records.py",
}
CLUSTER = (
    option(
        AccountingStorageEnforce="associations,limits,qos",
        AccountingStorageTRES="gres/gpu",
        EnforcePartLimits="NO",
        Licenses="matlab:2",
        PreemptMode="REQUEUE",
        PreemptType="preempt/qos",
        PriorityWeightFairshare=10000,
        SchedulerParameters="bf_interval=1,sched_interval=2,default_queue_depth=200",
    ),
    node(CoresPerSocket=12),
    partition(Nodes="n1"),
    partition("free", Nodes="n2"),
    partition("short", Nodes="n2", MaxTime="10", MaxNodes="1"),
    partition("staff", Nodes="n2", AllowAccounts="chem"),
    partition("broken", Nodes="n3"),
    partition("maintained", Nodes="n4"),
    partition("closed", Nodes="ALL", State="DOWN"),
    partition("shared", Nodes="n4", DefMemPerCPU="1"),
)
ACCOUNTS = (
    "add user bob account=phys qos=normal",
    "modify qos gold set MaxTRESPerUser=gres/gpu=2",
    "modify qos silver set MaxWall=30",
    "add qos bronze MaxJobsPerUser=1",
    "add qos guest",
    "add qos urgent preempt=guest",
    "modify user alice bob set qos+=guest,urgent",
    "modify user alice set qos+=bronze",
    "modify account chem set GrpTRES=cpu=4",
)
PATH = "PATH=/usr/local/bin:$PATH"
RUNNING = {
    "fill": "-p batch --exclusive -t 60",
    "user-a": "-p free -t 5 --gres=gpu:2 --qos=gold",
    "account-a": "-p free -t 5 -A chem -n2",
    "jobs-a": "-p free -t 20 --qos=bronze",
    "license-a": "-p free -t 5 -L matlab:2",
}
WAITING = {
    "resources": ("-p batch -t 20", "Resources", "it needs 1 node, and 0 of 1 in partition batch have room"),
    "priority": ("-p batch -t 30 --nice=500", "Priority", r"[1-9] jobs? of higher priority waits? .* less nice 500\)"),
    "dependency": ("-p free -t 5 -d afterok:$fill", "Dependency", r"depends on afterok of job \d+ \(RUNNING\)"),
    "never": ("-p free -t 5 -d afterok:$failed", "DependencyNeverSatisfied", r"job \d+ \(FAILED\), which cannot"),
    "user": (
        "-p free -t 5 --gres=gpu:1 --qos=gold",
        "QOSMaxGRESPerUser",
        "QOS gold may use 2 GPUs at once, 2 GPUs in use",
    ),
    "account": ("-p free -t 5 -A chem -n4", "AssocGrpCpuLimit", "chem may use 4 CPUs .* at most 2 CPUs"),
    "wall": ("-p free -t 90 --qos=silver", "QOSMaxWallDurationPerJobLimit", "QOS silver may run for 00:30:00"),
    "jobs": ("-p free -t 5 --qos=bronze", "QOSMaxJobsPerUserLimit", "may have 1 running job, and 1 runs"),
    "license": ("-p free -t 5 -L matlab:1", "Licenses", "1 of license matlab, of which 0 of 2 are free"),
    "time": ("-p short -t 20", "PartitionTimeLimit", "allows 00:10:00, and the job requests 00:20:00"),
    "nodes": ("-p short -t 5 -N2", "PartitionNodeLimit", "allows 1 node per job, and the job requests 2"),
    "closed": ("-p closed -t 5", "PartitionDown", "partition closed is DOWN"),
    "access": ("-p staff -t 5 -A phys", "(Job|PartitionConfig)", "only accounts chem, and the job has account phys"),
    "held": ("-p free -t 5 -H", "JobHeldUser", "its user holds it"),
    "admin": ("-p free -t 5 -b now+1hour", "JobHeldAdmin", "an operator holds it"),
    "begin": ("-p free -t 5 -b now+1hour", "BeginTime", r"may not start before \S*.*:\d\d "),
    "array": ("-p free -t 5 --array=0-2%1", "JobArrayTaskLimit", "at most one task at a time .* 1 task of the array"),
    "broken": ("-p broken -t 5", "(ReqNodeNotAvail|Nodes)", "n3 .*: fan 2 failed"),
    "maintained": ("-p maintained -t 120", "ReqNodeNotAvail", "reservation service .* begins at"),
}
"""Name of a job → options, reason and a pattern of the answer."""
HELPED = ("never", "dependency", "wall", "time", "held", "begin", "maintained")
"""Jobs that run after the first `scontrol` of their answer."""


PREEMPTED = {"guest": "--requeue", "guest-for-good": "--no-requeue"}
"""Jobs that make way for `urgent` on a node that they fill."""


def submit(name: str, options: str) -> str:
    return f"sbatch -J {name} -o /dev/null {options} --wrap 'sleep 600'"


def answers(release: str, directory: Path) -> dict[str, str]:
    """Answers by the name of the job; those of HELPED once more, with `+`: their state when the advice was taken."""
    install = require_slurm(release)
    prepare(install, directory)
    configuration = Configuration(release, database=True).edited(CLUSTER)
    ids = "fill=$(squeue -ha -n fill -o %i); failed=$(sacct -nX --name=failed -o jobid%-9)"
    waiting = "; ".join(submit(name, options) for name, (options, _, _) in WAITING.items())
    others = "$(sacct -nX --name=failed -o jobid%-9) $(squeue -ha -n user-a -o %i)"
    order = " ".join(HELPED)
    first = "grep -o '`scontrol [^`]*`' | head -1 | tr -d '`' | sh"
    follow = f"{PATH}; for name in {order}; do why $(squeue -ha -n $name -o %F) | {first}; done"
    states = "".join(rf"(?=.*^{name}=RUNNING)" for name in HELPED)
    reasons = "".join(rf"(?=.*^{name}={reason})" for name, (_, reason, _) in WAITING.items())
    ask = [
        ("root", "; ".join(f"sacctmgr -i {words}" for words in ACCOUNTS), ""),
        ("root", "scontrol update nodename=n3 state=drain reason='fan 2 failed'", ""),
        ("root", "scontrol create reservationname=service starttime=now+1hour duration=60 nodes=n4 flags=maint "
         "users=root", "created"),
        ("alice", "sbatch -J failed -o /dev/null -p free -t 1 --wrap 'exit 3'", "Submitted"),
        ("alice", "; ".join(submit(*job) for job in RUNNING.items() if job[0] != "fill"), "Submitted"),
        ("bob", submit("fill", RUNNING["fill"]), "Submitted"),
        ("root", "squeue -ha -t running -o %j | sort", "(?s)" + ".*".join(sorted(RUNNING))),
        ("root", "sacct -nX --name=failed -o state", "FAILED"),
        ("alice", f"{ids}; {waiting}", "Submitted"),
        ("root", "scontrol hold $(squeue -ha -n admin -o %i)", ""),
        ("bob", "; ".join(submit(name, f"-p shared -t 5 -n24 --qos=guest {how}") for name, how in PREEMPTED.items()),
         "Submitted"),
        ("root", "squeue -ha -p shared -t running -o %j | sort | xargs", " ".join(PREEMPTED)),
        ("alice", submit("urgent", "-p shared -t 5 -n48 --qos=urgent"), "Submitted"),
        ("root", "sacct -nXD --name=guest,guest-for-good -s preempted -o state,end | xargs; squeue -ha -n urgent -o %T",
         r"(?s)PREEMPTED \d.*PREEMPTED \d.*RUNNING"),
        ("bob", f"{PATH}; why $(sacct -nX --name=guest,guest-for-good -o jobid%-9)", "made way"),
        ("root", "scancel -p shared -t pending; scancel -n urgent", ""),
        ("root", "squeue -ha -t pending -o %j=%r", f"(?s){reasons}"),
        ("alice", f"{PATH}; why", "waits"),
        ("alice", f"{PATH}; why {others} 99999; echo $?; why 1x", "usage"),
        ("alice", follow, ""),
        ("root", "squeue -ha -o %j=%T", f"(?s){states}"),
    ]  # fmt: skip
    files = {path: (PROGRAMS / source).read_text(encoding="utf-8") for path, source in FILES.items()}
    spec = {
        "layers": [str(directory / release), str(install.path)],
        "database": True,
        "after_database": "",
        "files": configuration.texts(),
        "before": "",
        "nodes": ["n1", "n2", "n3", "n4"],
        "install": files,
        "ask": ask,
    }
    output = run(spec, directory / f"why-{release}")
    texts = dict(re.findall(r"(?m)^Job \d+ \((\S+)\) (.*(?:\n  .*)?)", output[-4]))
    return {**texts, "preempted": output[-7], "ended": output[-3], "reasons": output[-5], "states": output[-1]}


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("release", EACH_RELEASE)
def test_planted_reasons_are_explained(release: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    texts = answers(release, tmp_path_factory.getbasetemp() / "prepared")
    silent = {name: texts.get(name) for name, (_, _, pattern) in WAITING.items()
              if not re.search(pattern, texts.get(name, ""), re.DOTALL)}  # fmt: skip
    assert not silent, texts["reasons"]
    assert all("What you can do: " in texts[name] for name in WAITING)
    assert {name for name in HELPED if f"{name}=RUNNING\n" in texts["states"]} == set(HELPED), texts["states"]
    for name in PREEMPTED:
        place = r"made way at \S+ On its nodes started then: job \d+ of alice \(QOS urgent, partition shared\)\."
        assert re.search(rf"\({name}\) .*{place}", texts["preempted"]), texts["preempted"]
    assert re.search(r"Job \d+ \(failed\) failed after \S+ with exit status 3\.", texts["ended"])
    assert re.search(r"Job \d+ \(user-a\) runs on n2 for \S+, and ends at", texts["ended"])
    assert "Slurm has no job 99999" in texts["ended"]
    assert "'1x' is not the number of a job" in texts["ended"]


def test_every_limit_has_its_words() -> None:
    """The reasons of limits that a change of accounts leads to."""
    sys.path.insert(0, str(PROGRAMS / "lib"))
    limit_of = runpy.run_path(str(PROGRAMS / "lib/slurm_limits.py"))["limit_of"]
    reasons = [
        word.partition("=")[2] or word
        for row in rows("slurm_waiting.tsv")
        if row["file"] == "accounts" and row["state"] != "InvalidQOS"
        for word in row["state"].split()
    ]
    assert len(reasons) > 100
    assert [reason for reason in reasons if limit_of(reason) is None] == []


@pytest.mark.parametrize(
    ("more", "has_it"), [({}, True), ({"manage": ["slurm"]}, False), ({"manage": ["users"]}, True)]
)
def test_all_nodes_of_slurm_have_it(more: dict[str, Any], has_it: bool, tmp_path: Path) -> None:
    tree = tree_of(manifest(**more), tmp_path)
    for host in ("head", "c1"):
        assert (FILES.keys() <= node_files(tree, host).keys()) == has_it
