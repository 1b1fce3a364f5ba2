"""The tables that lint reads refer to existing keys, codes and plugins."""

from __future__ import annotations

import pytest

from clustergen.catalogue import slurm, slurm_values
from clustergen.catalogue.tables import rows
from clustergen.diagnostics import CODES
from clustergen.slurmrules import Outcome
from clustergen.slurmrules.forms import FORMS, seconds_of


def test_keys_of_traps_are_keys() -> None:
    for row in rows("slurm_traps.tsv"):
        assert slurm.key(row["file"], row["key"], row["block"]), row


def test_forms_codes_and_outcomes_are_known() -> None:
    forms, outcomes = zip(*(row["text"].split() for row in rows("slurm_keys.tsv") if row["text"]), strict=True)
    assert set(forms) == set(FORMS)
    assert all(map(Outcome, outcomes))
    for row in rows("slurm_traps.tsv"):
        assert row["code"] in CODES
        assert Outcome(row["outcome"])
    for row in rows("slurm_bounds.tsv"):
        assert Outcome(row["beyond"])
        assert not row["word"] or slurm_values.token(row["key"], row["word"])


def test_families_are_those_of_the_plugins() -> None:
    for row in rows("slurm_families.tsv"):
        for plugin in slurm_values.plugins(row["key"]):
            assert plugin.value.startswith(row["family"] + "/"), plugin


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5", 300),
        ("5:30", 330),
        ("1:00:00", 3600),
        ("7-0", 604_800),
        ("7-0:00:99", 604_899),
        ("1-", 86_400),
        ("UNLIMITED", -1),
        ("-1", -1),
        ("24h", None),
        ("1:2:3:4", None),
        ("1-2-3", None),
        ("", None),
        ("99999999999", None),
    ],
)
def test_durations_as_slurm_reads_them(text: str, seconds: int | None) -> None:
    assert seconds_of(text) == seconds
