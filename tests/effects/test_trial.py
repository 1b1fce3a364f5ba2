"""`clustergen plan --trial`: the steps of a plan on running daemons, and jobs that a step loses."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from clustergen.cli import group
from clustergen.verify.slurm_roots import for_release
from clustergen.verify.slurm_trial import TrialStep, carry_out
from effects.configuration import RELEASES, Configuration, option, split
from effects.measure import unavailable
from strategies.diffs import write

pytestmark = [
    pytest.mark.real,
    pytest.mark.slow,
    pytest.mark.skipif(unavailable() is not None, reason=unavailable() or ""),
]
HOSTS = "10.99.7.10 ctl\n" + "".join(f"10.99.7.1{number} n{number}\n" for number in range(1, 5))


WAITING = "BeginTime,Dependency,JobArrayTaskLimit,JobHeldUser,Resources"
EACH_RELEASE = ["24.11", *(pytest.param(each, marks=pytest.mark.long) for each in RELEASES if each != "24.11")]


@pytest.mark.parametrize("release", EACH_RELEASE)
def test_a_trial_shows_drained_nodes_jobs_and_values(release: str, tmp_path: Path) -> None:
    of_release = ('"24.11"', f'"{release}"')
    fewer = ("memory: 1TiB", "memory: 1TiB, gpus: {count: 4, numa: [0, 0, 1, 1]}")
    old = write(tmp_path / "a", of_release)
    new = write(tmp_path / "b", of_release, fewer, ("max_time: 30", "max_time: 60"))
    done = CliRunner().invoke(group, ["plan", str(new), "--against", str(old), "--trial"])
    assert done.exit_code == 1, done.output
    steps = dict.fromkeys(line.strip() for line in done.stdout.partition(f"trial on Slurm {release}")[2].splitlines())
    seen = list(steps)
    assert f"before: c[1,3-4] mixed, c2 allocated; jobs: 5 pending ({WAITING}), 6 running, 1 suspended" in seen
    lines = ["c[1-4] drained; jobs: 5 pending", "c[1-4] idle; jobs: 5 pending"]
    drained, idle = ([n for n, line in enumerate(seen) if line.startswith(start)] for start in lines)
    assert drained[0] < idle[-1]
    assert "partition debug MaxTime: 00:30:00 → 01:00:00; slurmctld reports MaxTime=01:00:00" in seen
    assert "node c[1-4] Gres: gpu:h100:8 → gpu:h100:4; slurmctld reports Gres=gpu:h100:4" in seen
    assert "all 13 jobs completed, and slurmdbd has their records" in seen


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
