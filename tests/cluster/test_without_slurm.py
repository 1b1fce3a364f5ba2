"""A cluster without Slurm: valid, rendered without anything of Slurm, and what needs it is named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings

from clustergen import compile as compiler
from clustergen.cli import group
from clustergen.cluster.document import document, schema
from clustergen.cluster.resolve import resolve
from clustergen.cluster.slurm.keys.table import SlurmKeys
from clustergen.cluster.slurm.model import Slurm
from clustergen.diagnostics import ClustergenError, Severity
from clustergen.diagnostics.model_path import value_at
from clustergen.explain.manifests import Original
from clustergen.feature import requirement
from clustergen.lab.model import Wish
from clustergen.lab.prepare import prepare
from clustergen.rules import check
from strategies.manifests import manifests
from strategies.trees import COMPUTE, HEAD, MANIFEST, manifest, tree_of

LOGIN = {**HEAD, "roles": ["login", "monitoring"]}


@cache
def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema())


def without(data: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A manifest whose section `slurm` is removed."""
    return {name: value for name, value in {**data, **changes}.items() if name != "slurm"}


def compiled_in(directory: Path, data: dict[str, Any]) -> compiler.Compiled:
    path = directory / "manifest.yaml"
    path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return compiler.validate(path)


def errors(compiled: compiler.Compiled) -> Iterator[tuple[str, str]]:
    for item in compiled.diagnostics:
        if item.severity is Severity.ERROR:
            yield item.code, item.message


@pytest.mark.slow
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=manifests())
def test_any_manifest_is_valid_once_what_needs_slurm_is_removed(data: dict[str, Any], tmp_path: Path) -> None:
    data = without(data)
    assert {code for code, _ in errors(compiled_in(tmp_path, data))} == {"slurm-absent"}  # of its controllers
    for entry in data["nodes"]:
        if "roles" in entry:
            entry["roles"] = [role for role in entry["roles"] if not role.startswith("slurm-")]
    compiled = compiled_in(tmp_path, data)
    assert not list(errors(compiled))
    assert compiled.cluster is not None
    assert not compiled.cluster.has(Slurm)
    assert not compiled.cluster.has(SlurmKeys)
    assert not [kind for kind in compiled.cluster.record_types if requirement(kind.__module__)]
    _validator().validate(document(compiled.cluster))
    tree, diagnostics = compiler.render(compiled, tmp_path / "manifest.yaml")
    assert tree is not None, diagnostics
    for file in tree:
        target = file.target or ""
        assert not target.startswith("/etc/slurm"), target
        assert "slurmd" not in target, target
    assert not {"slurm_node", "slurm_controller", "slurm_accounting"} & set(tree.groups)
    for path, file in tree.files.items():
        if path.startswith("inventory/group_vars/") or path.endswith("/prometheus/alertmanager.yml"):
            assert b"slurm" not in file.content.replace(b"slurm_compute", b"").lower(), path
        assert not path.endswith("runbooks.html") or b"scontrol" not in file.content, path


CACHE = {"type": "local", "mount": "/scratch", "device": "LABEL=scratch", "data_sets": {"size": "1TB"}}
SECTIONS = [
    ({"reports": {"period": "month"}}, "reports"),
    ({"backups": {"directory": "/backup"}}, "backups"),
    ({"health": {"interval": 120}}, "health"),
    ({"acceptance": {}}, "acceptance"),
    ({"user_guide": {"contact": "help"}}, "user_guide"),
    ({"host": {"ssh_adopt": True}}, "host.ssh_adopt"),
    ({"containers": {"oci_jobs": "crun"}}, "containers.oci_jobs"),
    ({"nodes": [HEAD, COMPUTE]}, "slurm-controller"),
    ({"storage": {"scratch": CACHE}}, "storage.scratch.data_sets"),
]


@pytest.mark.parametrize(("changes", "name"), SECTIONS, ids=[name for _, name in SECTIONS])
def test_sections_that_require_slurm_are_named(changes: dict[str, Any], name: str, tmp_path: Path) -> None:
    reported = list(errors(compiled_in(tmp_path, without(MANIFEST, **{"nodes": [LOGIN, COMPUTE], **changes}))))
    assert reported
    assert {code for code, _ in reported} == {"slurm-absent"}
    assert reported[0][1].startswith(name)


def test_the_timer_of_drift_needs_a_host(tmp_path: Path) -> None:
    for roles, expected in ((["login"], {"slurm-absent"}), (["login", "monitoring"], set())):
        nodes = [{**HEAD, "roles": roles}, COMPUTE]
        assert {code for code, _ in errors(compiled_in(tmp_path, without(MANIFEST, drift={}, nodes=nodes)))} == expected


@pytest.mark.parametrize("changes", [changes for changes, _ in SECTIONS], ids=[name for _, name in SECTIONS])
def test_each_hint_is_enough(changes: dict[str, Any], tmp_path: Path) -> None:
    """Removing all that is named, or adding Slurm as the hint says."""
    data = without(MANIFEST, **{"nodes": [LOGIN, COMPUTE], **changes})
    parsed = Original(data).manifest
    findings = [item for item in check(resolve(parsed, lambda _: None), parsed) if item.code == "slurm-absent"]
    (hint,) = {finding.hint for finding in findings}
    removed = json.loads(json.dumps(data))
    for *parents, last in sorted((finding.path for finding in findings), reverse=True):
        del value_at(removed, tuple(parents))[last]
    assert not list(errors(compiled_in(tmp_path, removed)))
    head = data["nodes"][0]
    if "the role slurm-controller" in (hint or ""):
        head = {**head, "roles": [*head["roles"], "slurm-controller"]}
    slurm = {**data, "slurm": {"version": "24.11"}, "nodes": [head, COMPUTE]}
    assert not list(errors(compiled_in(tmp_path, slurm)))


def test_nodes_with_gpus_may_have_other_roles_alone(tmp_path: Path) -> None:
    node = {**COMPUTE, "roles": ["login"], "in_no_partition": True}
    compiled = compiled_in(tmp_path, without(MANIFEST, nodes=[LOGIN, node]))
    assert "setting-unused" not in {item.code for item in compiled.diagnostics}
    assert compiled.cluster is not None
    assert compiled.cluster.groups[1].roles == ("login",)


def test_sections_that_are_off_need_no_slurm(tmp_path: Path) -> None:
    changes = {"health": {"enabled": False}, "host": {"ssh_adopt": False}}
    assert not list(errors(compiled_in(tmp_path, without(MANIFEST, nodes=[LOGIN, COMPUTE], **changes))))


def test_settings_of_slurms_files_are_unused(tmp_path: Path) -> None:
    compute = {**COMPUTE, "weight": 3, "features": ["fast"], "state": "DRAIN"}
    kind = {**MANIFEST["node_types"]["gpu"], "real_memory": 900000, "reserved": {"memory": "16GiB"}}
    monitoring = {"dcgm": {"job_map": "/run/jobs", "job_label_limit": 9}}
    more = {"node_types": {"gpu": kind}, "host": {"admin_group": "wheel"}, "monitoring": monitoring}
    compiled = compiled_in(tmp_path, without(MANIFEST, nodes=[LOGIN, compute], **more))
    names = {"weight", "features", "state", "real_memory", "reserved", "admin_group", "job_map", "job_label_limit"}
    assert {item.message.split()[0] for item in compiled.diagnostics if item.code == "setting-unused"} == names


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two manifests: without Slurm, and with it."""
    bare, slurm = (tmp_path_factory.mktemp(name) / "manifest.yaml" for name in ("bare", "slurm"))
    bare.write_text(json.dumps(without(MANIFEST, nodes=[LOGIN, COMPUTE])), encoding="utf-8")
    roles = [*LOGIN["roles"], "slurm-controller", "slurm-accounting"]
    slurm.write_text(json.dumps(manifest(nodes=[{**LOGIN, "roles": roles}, COMPUTE])), encoding="utf-8")
    return bare, slurm


def difference(old: Path, new: Path) -> tuple[dict[str, Any], str]:
    """Of two manifests: as JSON, and as text."""
    results = [
        CliRunner().invoke(group, ["diff", str(old), str(new), "--format", form])
        for form in ("json", "text", "markdown")
    ]
    assert [result.exit_code for result in results] == [1, 1, 1], results[1].output
    plan: dict[str, Any] = json.loads(results[0].stdout)["clusters"][0]
    return plan, results[1].stdout


@pytest.mark.slow
def test_removing_slurm_ends_all_jobs(sides: tuple[Path, Path]) -> None:
    bare, slurm = sides
    plan, text = difference(slurm, bare)
    assert plan["worst"] == "refuse"
    assert (plan["old"]["slurm"], plan["new"]["slurm"]) == ("24.11", None)
    assert "no job can run any more, and those that run or wait end" in plan["verdict"]
    assert plan["steps"][0]["by"] == "manual"
    assert not [step["text"] for step in plan["steps"] if step["text"].startswith(("restart slurm", "set accounts"))]
    assert "Slurm 24.11 → none" in text


@pytest.mark.slow
def test_adding_slurm_is_all_new(sides: tuple[Path, Path]) -> None:
    bare, slurm = sides
    plan, text = difference(bare, slurm)
    of_slurm = [change for change in plan["changes"] if (change["file"] or "").startswith("/etc/slurm/")]
    assert of_slurm
    assert {change["old"] for change in of_slurm} == {None}
    assert "Slurm none → 24.11" in text
    assert plan["verdict"] == (
        "ends users' processes outside of jobs on 4 nodes (c[1-4]); ssh to 4 nodes (c[1-4]) requires a job; "
        "starts slurmdbd, slurmctld and slurmd; changes environment settings of new jobs; accounts, users or QOS "
        "change; step 1 is manual"
    )
    assert [step["text"] for step in plan["steps"][-2:]] == [
        "start slurmd",
        "admit by ssh only users with a job, now that slurmd runs",
    ]
    assert "end their processes outside of jobs" in plan["steps"][0]["text"]


@pytest.mark.slow
def test_a_cluster_without_slurm_differs_from_none_like_it(sides: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "manifest.yaml"
    other.write_text(json.dumps(without(MANIFEST, nodes=[LOGIN, COMPUTE], nccl={"debug": "WARN"})), encoding="utf-8")
    _, text = difference(sides[0], other)
    assert "Slurm" not in text.splitlines()[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["resolve", "--format", "json"],
        ["resolve", "--origin"],
        ["explain", "slurm.version"],
        ["explain", "SlurmctldPort"],
    ],
    ids=" ".join,
)
def test_verbs_answer_without_slurm(
    sides: tuple[Path, Path], arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sides[0].parent)
    result = CliRunner().invoke(group, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("section", ["slurm", "slurm_keys", "backups"])
def test_a_section_of_slurm_is_named_as_such(sides: tuple[Path, Path], section: str) -> None:
    result = CliRunner().invoke(group, ["resolve", str(sides[0]), "--section", section])
    assert isinstance(result.exception, ClustergenError)
    assert "the cluster has no Slurm" in (result.exception.hint or "")


def test_time_comes_from_outside_where_no_controller_serves_it(tmp_path: Path) -> None:
    networks = {**MANIFEST["networks"], "management": {**MANIFEST["networks"]["management"], "ntp": ["ntp.example"]}}
    tree = tree_of(without(MANIFEST, nodes=[LOGIN, COMPUTE], networks=networks), tmp_path)
    chrony = tree.files["overlays/all/etc/chrony/chrony.conf"].content.decode()
    assert "server ntp.example iburst" in chrony
    assert "confdir" not in chrony


def test_a_lab_requires_slurm(sides: tuple[Path, Path]) -> None:
    with pytest.raises(ClustergenError, match="has no Slurm, which the nodes of a lab run") as error:
        prepare(compiler.validate(sides[0]), sides[0], None, Wish())
    assert error.value.exit_code == 2


def test_drift_compares_machines_without_slurms_view(sides: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "c1").mkdir()
    result = CliRunner().invoke(group, ["drift", str(sides[0]), "--facts", str(tmp_path)])
    assert result.exit_code in (0, 1), result.output
    assert "Slurm" not in result.output
