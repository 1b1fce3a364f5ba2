"""`clustergen plan --trial`: the steps of a plan on running daemons, and jobs that a step loses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from clustergen.cli import group
from clustergen.cli.diff import compare
from clustergen.diff.policy import VALUES
from clustergen.verify.slurm_roots import for_release
from clustergen.verify.slurm_trial import TrialStep, adapted, carry_out, is_left_out, other_limits
from conftest import EACH_RELEASE
from effects.configuration import Configuration, option, split
from strategies.diffs import MANIFEST, write

pytestmark = [
    pytest.mark.real,
    pytest.mark.slow,
]
HOSTS = "10.99.7.10 ctl\n" + "".join(f"10.99.7.1{number} n{number}\n" for number in range(1, 5))


WAITING = "BeginTime,Dependency,JobArrayTaskLimit,JobHeldUser,Resources"
ACCOUNTS = """\
  qos: {high: {max_jobs_per_user: 4}}
  accounts:
    teams: {qos: [normal, high]}
    vision: {parent: teams, users: [alice, bob]}
    speech: {users: [carol]}
"""


@pytest.mark.parametrize("release", EACH_RELEASE)
def test_a_trial_shows_drained_nodes_jobs_and_values(release: str, tmp_path: Path) -> None:
    of_release = ('"24.11"', f'"{release}"')
    fewer = ("memory: 1TiB", "memory: 1TiB, gpus: {count: 4, numa: [0, 0, 1, 1]}")
    limits = ("[normal, high]", "[normal, high], max_jobs: 6, max_tres_per_job: {cpu: 32}")
    of_accounts = ("max_jobs_per_user: 4", "max_jobs_per_user: 2"), ("[alice, bob]", "[alice]"), limits
    text = MANIFEST + ACCOUNTS
    old = write(tmp_path / "a", of_release, text=text)
    new = write(tmp_path / "b", of_release, fewer, ("max_time: 30", "max_time: 60"), *of_accounts, text=text)
    done = CliRunner().invoke(group, ["plan", str(new), "--against", str(old), "--trial"])
    assert done.exit_code == 1, done.output
    steps = dict.fromkeys(line.strip() for line in done.stdout.partition(f"trial on Slurm {release}")[2].splitlines())
    seen = list(steps)
    assert f"before: c[1,3-4] mixed, c2 allocated; jobs: 5 pending ({WAITING}), 8 running, 1 suspended" in seen
    lines = ["c[1-4] drained; jobs: 5 pending", "c[1-4] idle; jobs: 5 pending"]
    drained, idle = ([n for n, line in enumerate(seen) if line.startswith(start)] for start in lines)
    assert drained[0] < idle[-1]
    assert "partition debug MaxTime: 00:30:00 → 01:00:00; slurmctld reports MaxTime=01:00:00" in seen
    assert "node c[1-4] Gres: gpu:h100:8 → gpu:h100:4; slurmctld reports Gres=gpu:h100:4" in seen
    assert "accounts and limits: slurmctld and the database have those of the new tree" in seen
    assert [line for line in seen if line.startswith("it printed: Deleting user") and line.endswith("bob")]
    assert "all 15 jobs completed, and slurmdbd has their records" in seen


@pytest.mark.parametrize("release", EACH_RELEASE)
def test_a_step_that_loses_a_job_is_seen(release: str) -> None:
    """A node that leaves without a drain."""
    install = for_release(release)
    assert install is not None
    old = Configuration(release, database=False)
    new = old.edited((split("n1"), option(MessageTimeout=20)))
    steps = [
        TrialStep(1, "files", ()),
        TrialStep(2, "restart-slurmctld", ()),
        TrialStep(3, "restart-slurmd", ("n2", "n3", "n4")),
    ]
    asked = [("config", "-", "^MessageTimeout *=.*")]
    report = carry_out(install, old.texts(), new.texts(), HOSTS, steps, asked)
    assert report.complaints == ()
    assert [line.split(":")[0] for line in report.lost][:1] == ["on-n1"]
    assert "20 sec" in report.values[0]


@pytest.mark.long
def test_a_value_that_is_not_in_effect_is_seen() -> None:
    """Files without `scontrol reconfigure`."""
    install = for_release("24.11")
    assert install is not None
    old = Configuration("24.11", database=True)
    new = old.edited((option(MessageTimeout=20),))
    asked = [("config", "-", "^MessageTimeout *=.*"), ("config", "-", "^KillWait *=.*")]
    report = carry_out(install, old.texts(), new.texts(), HOSTS, [TrialStep(1, "files", ())], asked)
    assert (report.lost, report.not_in_effect) == ((), frozenset({0}))
    assert report.records == len(report.jobs)


@pytest.mark.long
def test_accounts_that_are_not_those_of_the_tree_are_seen(tmp_path: Path) -> None:
    """An account below one that nobody adds."""
    install = for_release("24.11")
    assert install is not None
    manifest = str(write(tmp_path, text=MANIFEST + ACCOUNTS))
    ((old, new, hosts),) = compare(manifest, manifest).slurm
    new[VALUES] = old[VALUES].replace('"parent": "teams"', '"parent": "nobody"')
    report = carry_out(install, old, new, hosts, [TrialStep(1, "load-accounts", ())], [])
    assert report.differs == ("account vision parent teams nobody",)
    assert not report.is_good


@pytest.mark.parametrize(
    ("value", "kept"),
    [("wckeys,nojobs", ""), ("all", "associations,limits,qos,safe"), ("Safe,QOS,nosteps", "qos,safe")],
)
def test_jobs_of_a_trial_are_held_to_limits_and_recorded(value: str, kept: str) -> None:
    files = {"slurm.conf": f"ClusterName=c\nAccountingStorageEnforce={value}\nNodeName=n1\n"}
    with_accounts = adapted({**files, VALUES: "{}"}, "24.11", accounting=True)["slurm.conf"]
    assert re.findall("Enforce=(.*)", with_accounts) == [kept] * bool(kept)
    assert "Enforce" not in adapted(files, "24.11", accounting=True)["slurm.conf"]
    assert is_left_out("AccountingStorageEnforce")
    assert not is_left_out("MaxJobCount")


def test_a_limit_that_slurmctld_lacks_is_named() -> None:
    line = (
        "ClusterName=c Account=vision UserName={} ID=4 UsageRaw={} MaxJobs={} GrpJobs={}({}) GrpTRES=cpu={}(3),mem=N(9)"
    )
    before = [
        line.format("", 1, 3, 8, 2, "N"),
        line.format("alice(64001)", 1, "", "", 0, 4),
        "QOS=high(5)",
        "  GrpJobs=N(1)",
    ]
    after = [
        line.format("", 7, 4, 1, 5, "N"),
        line.format("alice(64001)", 2, "", "", 1, "N"),
        "QOS=high(5) MaxWallPJ=30",
        "",
    ]
    assert other_limits("\n".join(before), "\n".join(after)) == (
        "account vision GrpJobs: 8 → 1",
        "account vision alice GrpTRES: cpu=4 → none",
        "qos high MaxWallPJ: none → 30",
    )
