"""Slurm's keys, scheduling, accounts: what Slurm accepts has no finding; a mistake is reported once, at its place."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import combinations, product
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from clustergen.catalogue import slurm as catalogue
from clustergen.catalogue.slurm_values import _bounds
from clustergen.cluster.resolve import resolve
from clustergen.compile import frozen, validate
from clustergen.manifest.model import Manifest
from clustergen.rules.scheduling import qos_preempts_itself
from clustergen.slurmrules.field_table import DERIVED, FIELDS
from clustergen.slurmrules.values import LEVEL_KEYS
from strategies.findings import findings, reviewed_findings
from strategies.slurm_manifests import BOOKS, RIGHT, WRONG, slurm


@pytest.mark.parametrize("name", RIGHT)
def test_values_that_slurm_accepts_have_no_finding(name: str) -> None:
    assert findings(RIGHT[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_reported_once_at_its_place(name: str) -> None:
    text, expected = WRONG[name]
    assert reviewed_findings("slurm", name, text) == expected


def test_a_cycle_of_preempting_qos_is_named(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text(WRONG["three QOS that chase each other, and one that leads to them"][0], encoding="utf-8")
    (diagnostic,) = validate(manifest).diagnostics
    assert "form a cycle: b → c → a → b," in diagnostic.message


@pytest.mark.slow
@pytest.mark.parametrize("entries", range(1, 5))
def test_without_the_entries_that_are_reported_no_qos_preempts_in_a_cycle(entries: int) -> None:
    """Every way for three QOS to have so many entries: graphlib finds a cycle exactly where the rule has a finding."""
    for chosen in combinations(product("abc", repeat=2), entries):
        qos = {name: [other for preempting, other in chosen if preempting == name] for name in "abc"}
        fields = ", ".join(f"{name}: {{preempt: [{', '.join(others)}]}}" for name, others in qos.items())
        data = yaml.safe_load(slurm(f"qos: {{{fields}}}, preemption: {{by: qos}}", roles=BOOKS))
        reported = [
            finding.path for finding in qos_preempts_itself(resolve(Manifest.model_validate(frozen(data)), [].append))
        ]
        assert bool(reported) is has_cycle(qos)
        left = {
            name: [
                other for index, other in enumerate(others) if ("slurm", "qos", name, "preempt", index) not in reported
            ]
            for name, others in qos.items()
        }
        assert not has_cycle(left)


def has_cycle(graph: dict[str, list[str]]) -> bool:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return True
    return False


@pytest.mark.parametrize("table", [FIELDS, DERIVED], ids=["fields", "derived"])
def test_keys_that_the_manifest_has_in_its_own_words_are_keys(table: dict[tuple[str, str], dict[str, object]]) -> None:
    for (file, block), keys in table.items():
        assert [key for key in keys if catalogue.key(file, key, block) is None] == []


def test_keys_with_bounds_and_levels_are_keys() -> None:
    for key in (*(key for key, word in _bounds() if not word), *LEVEL_KEYS):
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
