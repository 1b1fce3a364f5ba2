"""Changes on a running Slurm, by the steps of their verdicts: jobs continue, and the new values are in effect."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clustergen.verify.slurm_roots import SlurmInstall, for_release
from effects.change import Change
from effects.configuration import RELEASES
from effects.judge import MILD, NOT_IN_EFFECT, judge, lost_jobs
from effects.measure import CHANGES, has_cgroups, measure, prepare, run, spec_of, through
from effects.verdicts import Verdict, judged

pytestmark = [
    pytest.mark.real,
]
SEVERAL = ("killwait", "feature", "prio_basic", "taskplugin", "topo_tree", "mpidefault", "cpuspeclist_gone")
"""Some of these need restarts of slurmctld or of slurmd with 22.05, all only a reconfigure later."""


def _install(release: str) -> SlurmInstall:
    install = for_release(release)
    assert install is not None, f"no Slurm {release}: run clustergen setup parsers"
    return install


@pytest.mark.slow
def test_jobs_run_through_several_changes(tmp_path: Path) -> None:
    changes = [CHANGES[name] for name in SEVERAL]
    with ThreadPoolExecutor(len(RELEASES)) as pool:
        results = list(pool.map(lambda release: through(changes, _install(release), tmp_path / release), RELEASES))
    for release, (result, verdicts) in zip(RELEASES, results, strict=True):
        assert all("running job" in verdict.text or "no job is lost" in verdict.text for verdict in verdicts)
        silent = [check for each in result["rounds"] for check in each["checks"] if not check["shown"]]
        assert not silent, (release, silent)
        assert lost_jobs(Change("several", ()), result) == "", release


@pytest.mark.slow
def test_a_milder_verdict_is_seen(tmp_path: Path) -> None:
    """Slurm 22.05 loads another priority plugin only when slurmctld starts."""
    change, install = CHANGES["prio_basic"], _install("22.05")
    verdict, old, new = judged(change, install.release)
    milder = Verdict(verdict.plan, (("put", ""), ("reconfigure", "")))
    result = run(spec_of(change, install, old, new, milder.actions, tmp_path), tmp_path / "milder")
    assert verdict.steps == "put, slurmctld"
    assert judge(change, milder, result).kind == NOT_IN_EFFECT


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "release"),
    [
        (name, release)
        for name, change in CHANGES.items()
        for release in change.releases
        if not change.cgroups or has_cgroups()  # of version 1, which newer machines lack
    ],
)
def test_a_verdict_is_not_too_mild(name: str, release: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = tmp_path_factory.getbasetemp()
    change, install = CHANGES[name], _install(release)
    if change.database:
        prepare(install, directory / "prepared")
    verdict, outcome = measure(change, install, directory, strictness=False)
    assert outcome.kind not in MILD, (verdict.text, outcome.detail)
