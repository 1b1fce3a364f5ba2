"""Changes drawn from the fields of the manifest, carried out on a running Slurm as their verdicts and plans say."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clustergen.verify.slurm_roots import for_release
from effects import drawn_plans
from effects.change import Change
from effects.configuration import RELEASES
from effects.drawn import drawn, groups
from effects.judge import broken_promises
from effects.measure import through

pytestmark = [
    pytest.mark.real,
]
CURRENT = "24.11"
ALL = 1000
"""More than there are fields."""


def _broken(release: str, changes: list[Change], size: int, work: Path) -> dict[str, list[str]]:
    """Names of the changes of one cluster → what their verdicts did not say."""
    install = for_release(release)
    assert install is not None, f"no Slurm {release}: run clustergen setup parsers"

    def one(group: list[Change]) -> tuple[str, list[str]]:
        result, verdicts = through(group, install, work / str(changes.index(group[0])))
        return "; ".join(change.name for change in group), broken_promises(verdicts, result)

    with ThreadPoolExecutor(4) as pool:
        return {names: broken for names, broken in pool.map(one, groups(changes, size)) if broken}


@pytest.mark.slow
def test_eight_drawn_changes_do_what_their_verdicts_say(tmp_path: Path) -> None:
    changes = drawn(CURRENT, 8)
    assert len(changes) == 8
    assert _broken(CURRENT, changes, 4, tmp_path) == {}


@pytest.mark.long
@pytest.mark.parametrize("release", RELEASES)
def test_all_drawn_changes_do_what_their_verdicts_say(release: str, tmp_path: Path) -> None:
    changes = drawn(release, ALL)
    assert len(changes) >= 40
    assert _broken(release, changes, 5, tmp_path) == {}


@pytest.mark.long
@pytest.mark.parametrize("shard", range(drawn_plans.SHARDS))
@pytest.mark.parametrize("release", RELEASES)
def test_all_drawn_plans_do_what_they_say(release: str, shard: int, tmp_path: Path) -> None:
    """A tenth of them, so that a run that was cut off continues there; two at a time, since they mostly wait."""
    changes = enumerate(drawn_plans.drawn(release, shard))
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(drawn_plans.tried, release, *change, tmp_path / str(n)) for n, change in changes]
    results = [each.result() for each in waiting]
    assert len(results) >= 10
    assert [each for each in results if each["outcome"] in drawn_plans.FAULTS] == []
