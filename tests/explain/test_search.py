"""The search for the few fields that affect a line, and the values that it tries."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from clustergen import compile as compiler
from clustergen.catalogue.dcgm import dcgm_fields
from clustergen.cluster.resolve import resolve
from clustergen.diagnostics import CODES, Finding, Severity
from clustergen.explain.edits import Edit, edited
from clustergen.explain.fields import Fields
from clustergen.explain.halving import effective, in_rounds
from clustergen.explain.lines import Explained, explain
from clustergen.explain.locate import find, find_alone
from clustergen.explain.manifests import Original
from clustergen.explain.producers import producer_of
from clustergen.explain.rows import row_of
from clustergen.explain.study import Study
from clustergen.explain.trials import Renderer, Trials
from clustergen.manifest.model import Manifest
from clustergen.render.registry import files
from clustergen.rules import check
from strategies.inventories import MANIFESTS
from strategies.pages import ROOT

MANIFEST = ROOT / "inventories" / "dgx-a100-mig" / "manifest.yaml"
ML_TRAINING = ROOT / "inventories" / "ml-training" / "manifest.yaml"


def test_few_of_many_are_found_with_few_trials() -> None:
    asked: list[Sequence[int]] = []

    def has_effect(batch: Sequence[int]) -> bool:
        asked.append(batch)
        return bool({17, 400} & set(batch))

    assert effective(range(512), has_effect) == [17, 400]
    assert len(asked) < 50


def test_where_most_have_an_effect_wholes_are_not_tried() -> None:
    asked: list[Sequence[int]] = []

    def has_effect(batch: Sequence[int]) -> bool:
        asked.append(batch)
        return any(number >= 3 for number in batch)

    assert effective(range(64), has_effect) == list(range(3, 64))
    assert len(asked) < 100  # of 127 batches that there are
    assert all(asked.count(batch) == 1 for batch in asked)


@pytest.mark.parametrize("odd", range(8))
def test_a_batch_that_cannot_be_tried_hides_none(odd: int) -> None:
    """One of them goes with no other, so the halves of its batches are tried."""

    def has_effect(batch: Sequence[int]) -> bool | None:
        return None if odd in batch and len(batch) > 1 else bool({2, 5} & set(batch))

    assert effective(range(8), has_effect) == [2, 5]


def test_an_effect_of_several_together_is_found_where_that_is_asked_for() -> None:
    def has_effect(batch: Sequence[int]) -> bool:
        return {3, 6} <= set(batch)

    assert effective(range(8), has_effect) == []
    assert set(effective(range(8), has_effect, together=True)) >= {3, 6}


def test_a_later_choice_with_an_effect_is_found() -> None:
    choices = {"a": ["1", "2"], "b": ["1"], "c": ["1", "2", "3"]}
    values = in_rounds(choices, lambda _: None, lambda batch: bool({("a", "2"), ("c", "3")} & set(batch)))
    assert values == {"a": "2", "c": "3"}


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


@pytest.mark.slow
@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.long)])
def test_a_trial_s_manifest_is_what_a_reading_of_the_whole_gives(share: int) -> None:
    """One of `share` fields, of every kind."""
    source = compiler.validate(MANIFEST).source
    original = Original(source.data)
    fields = Fields(original)
    tried, before = 0, original.manifest.model_dump()
    for field in fields.all[::share]:
        for edit in fields.edits(field):
            whole = Manifest.model_validate(compiler.frozen(edited(source.data, [edit])))
            assert original.edited([edit]) == whole, (field.name, edit)
            tried += 1
    assert tried > 1000 // share
    assert {field.kind for field in fields.all[::share]} == {"value", "key", "entry", "default"}
    assert original.manifest.model_dump() == before


@pytest.mark.parametrize(
    ("rows", "share"), [pytest.param(19, 31, marks=pytest.mark.slow), pytest.param(3, 4, marks=pytest.mark.long)]
)
def test_a_trial_shows_what_a_cluster_that_is_made_anew_shows(rows: int, share: int) -> None:
    """Files of one of `rows` rows of the registry, edits of one of `share` fields: lines, and what rules refuse."""
    compiled = compiler.validate(ML_TRAINING)
    assert compiled.cluster is not None
    original = Original(compiled.source.data)
    renderers = []
    # Of these rows the machine room's are the ones that share most: members of groups are found anew in each trial.
    shared = [row for row in files() if row.path in ("facility/cables.csv", "facility/power-feeds.csv")]
    for row in [row for row in files() if row.per != "tree"][::rows] + shared:
        producer = producer_of(row, "manifest.yaml")
        renderers += [Renderer(producer, file) for file in list(producer(compiled.cluster).values())[:1]]
    studies = [(renderer, Trials(renderer, original.manifest, compiled.cluster)) for renderer in renderers]
    assert len(studies) > 60 // rows
    fields, differing, refused, kept = Fields(original), 0, 0, 0
    for edit in [edit for field in fields.all[::share] for edit in fields.edits(field)[:2]]:
        manifest, findings = original.edited([edit]), list[Finding]()
        try:
            cluster = resolve(manifest, findings.append)
            findings += check(cluster, manifest)
        except Exception:  # noqa: BLE001 - as in trials
            continue
        errors = {finding.code for finding in findings if CODES[finding.code].severity is Severity.ERROR}
        for renderer, trials in studies:
            try:
                lines = renderer.lines(cluster)
            except Exception:  # noqa: BLE001 - as in trials
                assert trials.make(manifest) is None, edit
                continue
            trial = trials.make(manifest)
            assert trial is not None, edit
            assert trial.lines == lines, (renderer.file.path, edit)
            differing += lines != trials.lines
            kept += trial.lines is trials.lines
        assert trial is not None
        assert (trial.refused in errors) if errors else trial.refused is None, (edit, errors)
        refused += bool(errors)
    assert min(differing, refused, kept) >= 10


@pytest.mark.slow
def test_names_that_the_manifest_knows_are_tried_first() -> None:
    fields = Fields(Original(compiler.validate(ML_TRAINING).source.data))
    first = {
        field.name: edits[0].value for field in fields.all if field.kind == "default" and (edits := fields.edits(field))
    }
    assert first["slurm.partitions.debug.qos"] == "normal"
    assert first["slurm.partitions.debug.allow_accounts"] == ["research"]
    assert first["slurm.accounts.operations.parent"] == "research"


@pytest.mark.slow
def test_values_that_make_no_valid_manifest_are_not_proposed() -> None:
    """Without its memory a node type is not valid, but rules about the fabric are not there because of it."""
    path = ROOT / "inventories" / "midrange-weka" / "manifest.yaml"
    compiled = compiler.validate(path)
    assert compiled.cluster is not None
    tree, file = find_alone(compiled.cluster, path, "/etc/prometheus/rules/fabric.yml") or (None, None)
    assert tree is not None
    assert file is not None
    needs = {cause.path for cause in explain(compiled, tree, file, path.parent, [20]).needs}
    assert "networks.fabric" in needs
    assert "node_types.h100x4.memory" not in needs


@pytest.mark.slow
@pytest.mark.parametrize("share", [5, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", MANIFESTS)
def test_a_file_is_found_alone_as_in_the_whole_tree(name: str, share: int) -> None:
    """One of `share` files, of each inventory others."""
    path = MANIFESTS[name]
    compiled = compiler.validate(path)
    tree, _ = compiler.render(compiled, path)
    assert compiled.cluster is not None
    assert tree is not None
    names = sorted(tree.files)[list(MANIFESTS).index(name) % share :: share]
    alone = {name: find_alone(compiled.cluster, path, name) for name in names}
    values = {path: made[1] for path, made in alone.items() if made is not None}
    assert len(values) > len(alone) * 0.8
    assert all(file == tree.files[path] for path, file in values.items())


@pytest.mark.slow
def test_values_that_a_valid_manifest_can_change_are_named_first() -> None:
    """Partitions have the node's name too, so another one alone makes no valid manifest."""
    path = ROOT / "inventories" / "home-3090" / "manifest.yaml"
    compiled = compiler.validate(path)
    assert compiled.cluster is not None
    made = find_alone(compiled.cluster, path, "/etc/hosts")
    assert made is not None
    number = next(n for n, line in enumerate(made[1].content.decode().splitlines(), 1) if "titan" in line)
    (line,) = explain(compiled, *made, path.parent, [number]).lines
    assert [(cause.path, cause.valid) for cause in line.manifest] == [
        ("networks.management.domain", True),
        ("nodes[0].address", True),
        ("nodes[0].name", False),
    ]


@pytest.mark.slow
def test_a_mapping_by_number_has_its_fields() -> None:
    compiled = compiler.validate(MANIFEST)
    names = {field.name for field in Fields(Original(compiled.source.data)).all}
    assert {"node_types.inference.gpus.mig.0", "node_types.inference.gpus.mig.7"} <= names


@pytest.mark.slow
def test_a_node_s_type_is_named_where_another_value_leaves_that_type_unused() -> None:
    """Groups that other files bring into the inventory are those of the trial's cluster, which lacks the type."""
    compiled = compiler.validate(ML_TRAINING)
    tree, _ = compiler.render(compiled, ML_TRAINING)
    assert tree is not None
    file = find(tree, "inventory/hosts.ini", ML_TRAINING.parent)
    number = file.content.decode().split("\n").index("[user_node:children]") + 1
    explained = explain(compiled, tree, file, ML_TRAINING.parent, [number])
    assert {"nodes[2].type", "nodes[2].roles[0]"} <= {cause.path for cause in explained.lines[0].manifest}


@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    [
        "/etc/slurm/gres.conf:7",
        pytest.param("/etc/slurm/slurm.conf:39", marks=pytest.mark.long),
        pytest.param("inventory/hosts.ini:16", marks=pytest.mark.long),
    ],
)
def test_trying_many_at_once_finds_what_trying_each_finds(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = compiler.validate(MANIFEST)
    tree, _ = compiler.render(compiled, MANIFEST)
    assert tree is not None
    name, _, number = place.rpartition(":")
    file = find(tree, name, MANIFEST.parent)

    def causes(explained: Explained) -> set[str]:
        return {cause.path for cause in (*explained.lines[0].manifest, *explained.lines[0].defaults)}

    at_once = explain(compiled, tree, file, MANIFEST.parent, [int(number)])
    monkeypatch.setattr(
        Study, "_try_all", lambda study, fields: [study._try(field, study.fields.edits(field)) for field in fields]
    )
    one_by_one = explain(compiled, tree, file, MANIFEST.parent, [int(number)])
    assert causes(at_once) == causes(one_by_one)
    assert {cause.path for cause in at_once.needs} == {cause.path for cause in one_by_one.needs}


def test_sets_of_the_catalogue_are_printed_in_order() -> None:
    fields = [row_of(field, {"generations"}).fields["generations"] for field in dcgm_fields().values()]
    assert max(map(len, fields)) > 20
    assert all(text.split() == sorted(text.split()) for text in fields)
