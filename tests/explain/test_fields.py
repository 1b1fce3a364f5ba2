"""`clustergen explain FIELD`: what a field is, its unit and default, and the files that change with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pydantic import BaseModel

from clustergen.cli import group
from clustergen.diagnostics import ClustergenError
from clustergen.explain import about as about_field
from clustergen.explain.about import About, _models, about
from clustergen.explain.edits import Edit
from clustergen.manifest.model import Manifest
from strategies.inventories import compiled
from strategies.pages import ROOT
from strategies.trees import COMPUTE, HEAD, manifest

MANIFEST = ROOT / "inventories" / "ml-training" / "manifest.yaml"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(group, ["explain", *arguments])


def paths(model: type[BaseModel], steps: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, field in model.model_fields.items():
        yield ".".join((*steps, name)), field
        for below in _models(field.annotation):
            yield from paths(below, (*steps, name))


def test_every_field_of_the_manifest_is_explained() -> None:
    items = list(paths(Manifest))
    assert len(items) > 300
    for path, _ in items:
        answer = about(path)
        assert isinstance(answer, About), path
        assert ".".join(answer.steps) == path
        assert answer.help
        assert answer.forms


@pytest.mark.slow
@pytest.mark.parametrize("path", ["slurm.partitions.max_time", "slurm.partitions.gpu-training.max_time"])
def test_a_field_with_a_unit(path: str) -> None:
    shown = run(path).output
    assert "MaxTime; default unlimited." in shown
    assert "unit: A length of time" in shown
    assert "overlays/slurm_node/etc/slurm/slurm.conf" in shown


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("slurm.qos.grace_time", "seconds"),
        ("slurm.qos.max_wall", "minutes"),
        ("slurm.priority.calc_period", "minutes"),
        ("slurm.slurmd_timeout", "seconds"),
        ("monitoring.dcgm.interval", "milliseconds"),
    ],
)
def test_the_unit_of_a_bare_number(path: str, unit: str) -> None:
    explained = about(path)
    assert isinstance(explained, About)
    assert f"A bare number is {unit}." in explained.units


def test_a_default_is_reported() -> None:
    answer = about("slurm.priority.half_life")
    assert isinstance(answer, About)
    assert answer.default == "7-0"
    required = about("name")
    assert isinstance(required, About)
    assert required.required


@pytest.mark.slow
def test_the_files_of_a_manifest_of_one_s_own() -> None:
    data = json.loads(run(str(MANIFEST), "nodes[3].address", "--format", "json").output)
    assert data["field"] == "nodes.address"
    assert "nodes[3].address" in data["stated"]
    assert {"overlays/slurm_node/etc/slurm/slurm.conf", "overlays/all/etc/hosts", "inventory/hosts.ini"} <= set(
        data["files"]
    )
    mounts = json.loads(run(str(MANIFEST), "monitoring.smtp", "--format", "json").output)["files"]
    assert any("alertmanager" in path for path in mounts)
    assert not any("slurm.conf" in path for path in mounts)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("slurm.partitions.max_tine", "did you mean 'slurm.partitions.max_time'?"),
        ("slrum", "did you mean 'slurm' or 'slurmd'?"),
        ("slurm.partition.max_tme", "did you mean 'slurm.partitions.max_time'?"),
        ("max_tme", "did you mean 'notebooks.max_time' or 'slurm.partitions.max_time'?"),
        ("slurm.cnf", "did you mean 'slurm.conf'?"),
        ("rendered/etc/slurm.conf:3", "a file needs its manifest: clustergen explain MANIFEST FILE:LINE"),
    ],
)
def test_a_field_that_is_misspelt_is_guessed(word: str, hint: str) -> None:
    done = run(word)
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.hint == hint
    assert done.exception.exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize("word", ["USAGE_FACTOR", "usage_factor"])
def test_a_field_is_explained_by_its_last_name_in_any_case(word: str) -> None:
    assert run(word).output.startswith("slurm.qos.usage_factor\n")


@pytest.mark.slow
def test_keys_of_several_kinds_are_listed_once() -> None:
    keys = [line.strip() for line in run("storage").output.splitlines() if line.startswith("    ")]
    assert keys.count("mount: Mount point on the nodes.") == 1
    assert (
        "mgs: NIDs of the MGS; an entry for each failover node, with commas between NIDs of the same node. (lustre)"
        in keys
    )
    assert len(keys) == len(set(keys))


@pytest.mark.slow
def test_the_plan_of_a_fabric_is_tried_with_a_switch() -> None:
    shown = run("networks.fabric.plan").output
    assert "facility/fabric.svg" in shown
    assert "overlays/slurm_node/etc/slurm/topology.conf" in shown


@pytest.mark.slow
def test_a_field_alone_is_that_of_the_manifest_in_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = manifest(nodes=[HEAD, COMPUTE])
    Path("manifest.yaml").write_text(json.dumps(data), encoding="utf-8")
    shown = run("slurm.version").output
    assert "  in manifest.yaml: slurm.version" in shown
    assert "starter" not in shown
    unset = run("storage.scratch.lnet").output
    assert unset.endswith("  not set in manifest.yaml\n  no file of manifest.yaml changes with it\n")
    Path("manifest.yaml").write_text(json.dumps({**data, "os": "beos"}), encoding="utf-8")
    shown = run("slurm.version").output
    assert "in the starter manifest (manifest.yaml has errors):" in shown


@pytest.mark.slow
def test_many_files_are_folded_and_a_narrower_question_is_named() -> None:
    shown = run("nodes").output
    assert len(shown.splitlines()) < 45
    assert "overlays/slurm_node/: 2 files: gres.conf, slurm.conf" in shown
    assert "explain one field of it, as nodes.name" in shown
    assert len(json.loads(run("nodes", "--format", "json").output)["files"]) > 60


@pytest.mark.slow
def test_only_files_of_the_tree_are_listed_for_a_field_that_is_set() -> None:
    document = json.loads(run(str(MANIFEST), "storage", "--format", "json").output)
    tree = MANIFEST.parent / "rendered"
    assert document["files"]
    assert [path for path in document["files"] if not (tree / path).is_file()] == []
    assert document["files_added"] == []


def test_files_that_only_two_edits_change_together_are_not_those_of_a_field() -> None:
    one, two, three = (Edit(("a", number), "set", "") for number in range(3))

    def changed(edits: Sequence[Edit]) -> set[str] | None:
        if {two, three} <= set(edits):
            return None  # they make no manifest
        return {"both"} | {"first"} if {one, two} <= set(edits) else {"first"} if one in edits else {"other"}

    assert about_field._changed_by_one([[one], [two], [three]], 1, changed) == {"first", "other"}
    assert about_field._changed_by_one([[two, one]], 1, changed) == {"other"}
    assert about_field._changed_by_one([[two, one]], 2, changed) == {"first", "other"}


@pytest.mark.slow
@pytest.mark.parametrize("steps", [("slurm",), ("storage",)])
def test_the_files_of_a_field_are_those_that_single_edits_change(
    steps: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    result, _ = compiled("home-3090")
    at_once = about_field.reach(result, steps, "manifest.yaml", "")
    together = about_field._changed_by_one
    monkeypatch.setattr(
        about_field,
        "_changed_by_one",
        lambda choices, most, changed: {path for one in choices for path in together([one], most, changed)},
    )
    assert about_field.reach(result, steps, "manifest.yaml", "") == at_once
    assert at_once.files or at_once.added


@pytest.mark.slow
def test_the_files_that_a_field_can_add_are_listed_where_it_is_not_set() -> None:
    shown = run("host.firewall").output
    assert "  not set in the starter manifest (clustergen init)\n" in shown
    files, _, added = shown.partition("  files that it can add:\n")
    assert "    README.md\n" in files
    assert "    overlays/all/etc/systemd/system/clustergen-nftables.service\n" in added


@pytest.mark.slow
def test_a_section_that_is_left_out_has_the_files_of_its_fields() -> None:
    document = json.loads(run("monitoring", "--format", "json").output)
    assert document["stated"] == []
    assert "overlays/monitoring/etc/prometheus/prometheus.yml" in document["files"]
    assert not any("example" in path for path in document["files_added"])
