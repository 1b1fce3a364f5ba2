"""Slurm's keys, scheduling, accounts: what Slurm takes has no finding; a slip is told once, where it stands."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from clustergen.catalogue import slurm as catalogue
from clustergen.catalogue.slurm_values import keys_with_bounds
from clustergen.manifest.model import Manifest
from clustergen.slurmrules.field_table import DERIVED, FIELDS
from clustergen.slurmrules.values import LEVEL_KEYS
from strategies.findings import found
from strategies.slurm_manifests import RIGHT, WRONG


@pytest.mark.parametrize("name", RIGHT)
def test_what_slurm_takes_has_no_finding(name: str) -> None:
    assert found(RIGHT[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_slip_is_told_once_at_its_place(name: str) -> None:
    text, expected = WRONG[name]
    assert found(text) == expected


@pytest.mark.parametrize("table", [FIELDS, DERIVED], ids=["fields", "derived"])
def test_keys_that_the_manifest_has_in_its_own_words_are_keys(table: dict[tuple[str, str], dict[str, object]]) -> None:
    for (file, block), keys in table.items():
        assert [key for key in keys if catalogue.key(file, key, block) is None] == []


def test_keys_with_bounds_and_levels_are_keys() -> None:
    for key in (*keys_with_bounds(), *LEVEL_KEYS):
        assert any(catalogue.key(file, key) for file in ("slurm.conf", "slurmdbd.conf", "cgroup.conf")), key


def test_fields_that_hints_name_are_there() -> None:
    places = [row.path for keys in FIELDS.values() for row in keys.values() if row.path.startswith("slurm.")]
    assert len(places) > 40
    for place in places:
        model: object = Manifest
        for part in place.split("."):
            if not (isinstance(model, type) and issubclass(model, BaseModel)):
                break  # a mapping: its keys are the schema's business
            assert part in model.model_fields, place
            model = model.model_fields[part].annotation
