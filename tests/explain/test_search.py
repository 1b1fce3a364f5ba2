"""What finds the few fields that have a say, and what is tried in their place."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from clustergen import compile as compiler
from clustergen.explain.edits import Edit, edited
from clustergen.explain.fields import Fields
from clustergen.explain.halving import in_rounds, telling
from clustergen.explain.lines import Explained, explain
from clustergen.explain.locate import find
from clustergen.explain.study import Study
from clustergen.manifest.model import Manifest
from strategies.pages import ROOT

MANIFEST = ROOT / "inventories" / "dgx-a100-mig" / "manifest.yaml"


def test_few_of_many_are_found_with_few_questions() -> None:
    asked: list[Sequence[int]] = []

    def tells(crowd: Sequence[int]) -> bool:
        asked.append(crowd)
        return bool({17, 400} & set(crowd))

    assert telling(range(512), tells) == [17, 400]
    assert len(asked) < 50


def test_what_only_tells_together_is_found_where_that_is_asked_for() -> None:
    def tells(crowd: Sequence[int]) -> bool:
        return {3, 6} <= set(crowd)

    assert telling(range(8), tells) == []
    assert set(telling(range(8), tells, together=True)) >= {3, 6}


def test_what_tells_only_by_a_later_choice_is_found_with_it() -> None:
    choices = {"a": ["1", "2"], "b": ["1"], "c": ["1", "2", "3"]}
    found = in_rounds(choices, lambda _: None, lambda crowd: bool({("a", "2"), ("c", "3")} & set(crowd)))
    assert found == {"a": "2", "c": "3"}


def test_edits_do_not_move_each_other_s_place() -> None:
    data = {"types": {"old": {"system": "old"}}, "nodes": [{"name": "a"}, {"name": "b", "type": "old"}]}
    new = edited(
        data,
        [
            Edit(("nodes", 0), "drop", ""),
            Edit(("nodes", 1, "name"), "set", "", "c"),
            Edit(("types", "old"), "replace", "", "new"),
            Edit(("nodes",), "add", "", [{"name": "d"}]),
        ],
    )
    assert new == {"types": {"new": {"system": "old"}}, "nodes": [{"name": "c", "type": "new"}, {"name": "d"}]}
    assert data["nodes"] == [{"name": "a"}, {"name": "b", "type": "old"}]


def test_a_mapping_by_number_has_its_fields() -> None:
    compiled = compiler.validate(MANIFEST)
    manifest = Manifest.model_validate(compiler.frozen(compiled.source.data))
    names = {field.name for field in Fields(manifest, compiled.source.data, Manifest.model_json_schema()).found}
    assert {"node_types.inference.gpus.mig.0", "node_types.inference.gpus.mig.7"} <= names


@pytest.mark.slow
@pytest.mark.parametrize("wanted", ["/etc/slurm/slurm.conf:39", "/etc/slurm/gres.conf:7", "inventory/hosts.ini:16"])
def test_trying_many_at_once_finds_what_trying_each_finds(wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = compiler.validate(MANIFEST)
    tree, _ = compiler.render(compiled, MANIFEST)
    assert tree is not None
    name, _, number = wanted.rpartition(":")
    file = find(tree, name, MANIFEST.parent)

    def causes(told: Explained) -> set[str]:
        return {cause.path for cause in (*told.lines[0].manifest, *told.lines[0].defaults)}

    at_once = explain(compiled, tree, file, MANIFEST.parent, [int(number)])
    monkeypatch.setattr(
        Study, "_telling", lambda study, fields: [(field, study.fields.edits(field)) for field in fields]
    )
    one_by_one = explain(compiled, tree, file, MANIFEST.parent, [int(number)])
    assert causes(at_once) == causes(one_by_one)
    assert {cause.path for cause in at_once.needs} == {cause.path for cause in one_by_one.needs}
