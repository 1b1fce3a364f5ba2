"""The table of effects against what was measured: each row was tried on a running Slurm, and none is too mild."""

from __future__ import annotations

import re

import pytest

from clustergen.catalogue.slurm_effects import effects as effect_rows
from effects.change import Change
from effects.configuration import option
from effects.judge import MILD, RIGHT, STRICT
from effects.measure import CHANGES, measured_rows
from effects.verdicts import judged
from strategies.effects_table import effects_filled
from strategies.pages import ROOT

MEASURED = measured_rows()
PAIRS = [(name, release) for name, change in CHANGES.items() for release in change.releases]


def test_every_change_is_measured_on_every_release() -> None:
    assert set(MEASURED) == set(PAIRS)


def test_no_verdict_is_too_mild() -> None:
    assert {row["outcome"] for row in MEASURED.values()} <= {RIGHT, STRICT}, [
        key for key, row in MEASURED.items() if row["outcome"] in MILD
    ]


def test_pending_jobs_wait_for_the_reason_that_squeue_showed() -> None:
    """Of the reasons that are one word of Slurm's; others have names of nodes, users or accounts in them."""
    words, other = {"BadConstraints", "PartitionConfig"}, []
    for (name, release), row in MEASURED.items():
        shown = words.intersection(re.findall(r"pending\S* PENDING \((\w+)\)", row["detail"]))
        if shown and row["detail"].startswith("announced"):
            plan = judged(CHANGES[name], release)[0].plan
            announced = {state for jobs in plan.waiting for state in jobs.state.split(", ")}
            other += [(name, release, shown)] if not shown <= announced else []
    assert other == [("allowgroups", "22.05", {"PartitionConfig"})], "a uid in place of it from 23.11 on"


def test_every_row_is_measured_or_says_why_it_cannot_be() -> None:
    measured = {name for row in MEASURED.values() for name in row["rows"].split("; ")}
    effects = {row.name: row.unmeasured for row in effect_rows()}
    assert {name for name, why in effects.items() if not why} - measured == set()
    assert {name for name, why in effects.items() if why} & measured == set()
    assert measured - {""} <= set(effects)


def test_an_effect_without_measurement_or_source_is_no_promise() -> None:
    verdict, _, _ = judged(Change("rate", (option(UsePAM=1),)), "22.05")
    assert verdict.text == "scontrol reconfigure; the effect of UsePAM on jobs is not known"


def test_the_page_has_the_effects_of_today() -> None:
    text = (ROOT / "docs/effects.md").read_text(encoding="utf-8")
    assert effects_filled(text) == text, "run tools/update-docs docs/effects.md"


@pytest.mark.slow
@pytest.mark.parametrize("release", ["22.05", "24.11", "26.05"])
def test_the_verdicts_are_those_that_were_measured(release: str) -> None:
    """After a change of the table, measure again: tools/measure-effects CHANGE …"""
    pairs = [pair for pair in PAIRS if pair[1] == release]
    today = {name: judged(CHANGES[name], release)[0] for name, _ in pairs}
    then = {name: MEASURED[name, release] for name, _ in pairs}
    assert {name: verdict.steps for name, verdict in today.items()} == {
        name: row["steps"] for name, row in then.items()
    }
    assert {name: "; ".join(verdict.keys) for name, verdict in today.items()} == {
        name: row["keys"] for name, row in then.items()
    }
    assert {name: "; ".join(verdict.rows) for name, verdict in today.items()} == {
        name: row["rows"] for name, row in then.items()
    }
