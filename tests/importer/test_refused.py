"""Errors of Slurm about a hand-written directory are reported by import, with their lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from clustergen.catalogue.versions import SlurmRelease
from clustergen.cli import group
from clustergen.diagnostics import Severity
from clustergen.importer.directory import ImportResult, import_directory
from clustergen.importer.report import as_text
from clustergen.lint.run import lint
from clustergen.manifest.source import load
from strategies.lint_fragments import HEAD, NODES, PARTITIONS

pytestmark = pytest.mark.slow


def imported(directory: Path, release: str, slurm_conf: str) -> tuple[ImportResult, dict[str, Any]]:
    (directory / "slurm.conf").write_text(slurm_conf)
    import_result = import_directory(directory, version=release)
    assert import_result.errors == ()
    path = directory / "manifest.yaml"
    path.write_text(import_result.text, encoding="utf-8")
    data = load(path).data
    assert data is not None
    return import_result, data


# Line 11 of slurm.conf, or the head; which line import names, and the code there (empty: the setting is left out).
CASES = {
    "a QOS without slurmdbd": ("26.05", "", PARTITIONS.strip() + " QOS=normal\n", "slurm.conf:12"),
    "a route without a tree": ("22.05", "RoutePlugin=route/topology\n", PARTITIONS, "slurm.conf:11"),
    "front ends": ("24.11", "FrontendName=f1\n", PARTITIONS, "slurm.conf:11"),
    "max_job_bf": ("24.11", "SchedulerParameters=bf_continue,max_job_bf=5\n", PARTITIONS, "slurm.conf:11"),
    "credentials by openssl": ("26.05", "CryptoType=crypto/openssl\n", PARTITIONS, "slurm.conf:11"),
    "nobody": ("26.05", "SlurmUser=nobody\n", PARTITIONS, "slurm.conf:10"),
}


@pytest.mark.parametrize("name", CASES)
def test_import_names_the_line_of_what_lint_calls_an_error(name: str, tmp_path: Path) -> None:
    release, line, partitions, place = CASES[name]
    head = HEAD.replace("SlurmUser=slurm\n", "") if line.startswith("SlurmUser") else HEAD
    text = head + line + NODES + partitions
    result, _ = imported(tmp_path, release, text)
    places = {one.place for one in result.refused} | {note.place for note in result.notes if note.kind == "left-out"}
    assert place in places, as_text(result)
    errors = [one for one in lint(tmp_path, SlurmRelease(release)).diagnostics if one.severity is Severity.ERROR]
    assert [f"slurm.conf:{one.place.line}" for one in errors if one.place] == [place]


def test_refused_files_are_shown_and_are_no_success(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(HEAD + "RoutePlugin=route/topology\n" + NODES + PARTITIONS)
    result = CliRunner().invoke(group, ["import", str(tmp_path), "--slurm-version", "22.05"])
    assert result.exit_code == 1
    assert (
        "slurm.conf:11: RoutePlugin=route/topology: route/topology requires TopologyPlugin=topology/tree"
        in result.stderr
    )
    as_json = CliRunner().invoke(group, ["import", str(tmp_path), "--slurm-version", "22.05", "--format", "json"])
    assert '"place": "slurm.conf:11"' in as_json.stdout


# A line that Slurm rejects and import leaves out: the rendered files mean the same as the rest of the original ones.
REJECTED = {
    "a line without a key": ("; NodeName=old CPUs=1\n", "slurm.conf:11"),
    "a key of no release": ("MaxConcurrentJobs=64\n", "slurm.conf:11"),
    "a removed key": ("DefaultStoragePort=6819\n", "slurm.conf:11"),
    "a removed plugin": ("SelectType=select/cons_res\n", "slurm.conf:11"),
    "a key in an included file": ("Include more.conf\n", "more.conf:1"),
}


@pytest.mark.parametrize("name", REJECTED)
def test_original_files_that_slurm_rejects_are_no_success(name: str, tmp_path: Path) -> None:
    line, place = REJECTED[name]
    (tmp_path / "slurm.conf").write_text(HEAD + line + NODES + PARTITIONS)
    (tmp_path / "more.conf").write_text("MaxConcurrentJobs=64\n")
    result = CliRunner().invoke(group, ["import", str(tmp_path), "--slurm-version", "24.11"])
    assert result.exit_code == 1
    assert (
        f"Slurm 24.11 rejects the original files ({place}); clustergen compares what Slurm can read." in result.stderr
    )
    assert f"hint: `clustergen lint {tmp_path}` shows the reasons" in result.stderr


def test_a_whole_directory_has_no_refusals(tmp_path: Path) -> None:
    result, _ = imported(tmp_path, "24.11", HEAD + NODES + PARTITIONS)
    assert result.refused == result.rejected == ()
    assert CliRunner().invoke(group, ["import", str(tmp_path), "--slurm-version", "24.11"]).exit_code == 0


def test_words_that_moved_to_another_key_are_in_the_manifest(tmp_path: Path) -> None:
    line = "SchedulerParameters=bf_continue,kill_invalid_depend\n"
    result, data = imported(tmp_path, "24.11", HEAD + line + NODES + PARTITIONS)
    assert data["slurm"]["scheduler"] == {
        "parameters": ["bf_continue"],
        "dependency_parameters": ["kill_invalid_depend"],
    }
    assert "DependencyParameters=kill_invalid_depend is added" in as_text(result)
    assert not [item for item in result.compared if not item.why]


def test_memory_with_a_unit_keeps_its_value(tmp_path: Path) -> None:
    nodes = "NodeName=n[1-4] Sockets=2 CoresPerSocket=4 RealMemory=1T\n"
    result, data = imported(tmp_path, "24.11", HEAD + nodes + PARTITIONS)
    [kind] = data["node_types"].values()
    assert kind["real_memory"] == 1048576
    assert "slurm_options" not in kind
    assert "slurm.conf:11: slurm.conf has RealMemory=1T, which Slurm cannot read" in as_text(result)
