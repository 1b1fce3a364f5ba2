"""`clustergen explain KEY`: from a key of Slurm's files to the fields that set it, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.diagnostics import CODES, ClustergenError
from clustergen.explain.about import About, about
from clustergen.explain.keys import keys_of, places
from clustergen.slurmrules.fields import rows


def test_a_key_leads_to_its_fields_in_any_case_and_by_old_names() -> None:
    for word in ("MaxTime", "maxtime"):
        assert [place.fields for place in places(word)] == [("slurm.partitions.NAME.max_time",)]
    (place,) = [place for place in places("Priority") if place.block == "PartitionName"]
    assert place.names == ("PriorityTier", "PriorityJobFactor")
    assert place.fields == ("slurm.partitions.NAME.priority_tier", "slurm.partitions.NAME.priority_factor")
    assert places("MaximumTime") == ()


def test_each_field_of_the_table_names_its_key() -> None:
    for file, block, key, row in rows():
        prefix = {"PartitionName": "slurm.partitions.", "NodeName": "node_types."}.get(block, "")
        result = about(f"{prefix}{row.path}")
        if not isinstance(result, About):  # of an entry of nodes alone, or a key of a mapping
            result = about(f"nodes.{row.path}") if block == "NodeName" else about(row.path.rpartition(".")[0])
        assert isinstance(result, About), row.path
        names = {name.split()[0] for name in keys_of(result.steps)}
        if ".".join(result.steps).endswith(row.path):
            assert key in names, (file, block, row.path)


def test_the_command_prints_both_forms() -> None:
    text = CliRunner().invoke(group, ["explain", "ControlMachine"])
    assert (text.exit_code, text.output.splitlines()[-1]) == (0, "    follows from the role slurm-controller")
    document = json.loads(CliRunner().invoke(group, ["explain", "KillWait", "--format", "json"]).output)
    assert [(place["file"], place["options"]) for place in document["places"]] == [("slurm.conf", "slurm.options")]
    wrong = CliRunner().invoke(group, ["explain", "KillWeight"])
    assert isinstance(wrong.exception, ClustergenError)
    assert wrong.exception.exit_code == 2


def test_a_kind_of_drift_has_a_cause_and_a_next_step() -> None:
    text = CliRunner().invoke(group, ["explain", "gpu-missing"]).output
    assert text.startswith("gpu-missing: error of clustergen drift (hardware)\n   cause: a GPU fell off")
    assert "NodeName=NODES State=DRAIN" in text
    assert "{" not in text
    document = json.loads(CliRunner().invoke(group, ["explain", "gpu-missing", "--format", "json"]).output)
    assert (document["severity"], document["topic"]) == ("error", "hardware")
    page = CliRunner().invoke(group, ["explain", "address-missing"]).output  # a diagnostic has this name, too
    assert page.startswith("# address-missing")
    wrong = CliRunner().invoke(group, ["explain", "gpu-missin"]).exception
    assert isinstance(wrong, ClustergenError)
    assert wrong.hint is not None
    assert "'gpu-missing'" in wrong.hint


@pytest.mark.slow
def test_a_file_alone_is_one_of_the_manifest_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lacking = CliRunner().invoke(group, ["explain", "nccl.conf"])
    assert isinstance(lacking.exception, ClustergenError)
    assert lacking.exception.hint == "a file requires its manifest: clustergen explain MANIFEST nccl.conf"
    assert CliRunner().invoke(group, ["init"]).exit_code == 0
    done = CliRunner().invoke(group, ["explain", "nccl.conf"])
    assert done.stdout.startswith("overlays/gpu_node/etc/nccl.conf, on the nodes /etc/nccl.conf\n")
    field = CliRunner().invoke(group, ["explain", "slurm.scheduler"])
    assert field.stdout.startswith("slurm.scheduler\n")


@pytest.mark.slow
def test_no_invented_section_is_a_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mount of WEKA would take cores of the nodes from jobs: that is no reason for what the line says without one."""
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(group, ["init"]).exit_code == 0
    assert CliRunner().invoke(group, ["render"]).exit_code == 0
    lines = (tmp_path / "rendered/overlays/slurm_node/etc/slurm/slurm.conf").read_text().splitlines()
    number = next(index for index, line in enumerate(lines, 1) if line.startswith("PartitionName=batch"))
    done = CliRunner().invoke(group, ["explain", f"slurm.conf:{number}", "--format", "json"])
    (line,) = json.loads(done.stdout)["lines"]
    causes = [cause["path"] for cause in line["manifest"]]
    assert "slurm.partitions.batch.max_time" in causes
    assert not [path for path in causes if path.startswith("storage")]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(group, ["explain", *arguments])


@pytest.mark.parametrize("words", ["nodes-and-names", "Nodes and names", "docs/codes/nodes-and-names.md"])
def test_a_topic_lists_its_codes_with_their_first_sentences(words: str) -> None:
    shown = run(words).stdout
    assert shown.startswith("Nodes and names: ")
    of_topic = [code for code in CODES.values() if code.topic == "Nodes and names"]
    assert f" {len(of_topic)} diagnostics" in shown.splitlines()[0]
    assert [line.split()[0] for line in shown.splitlines()[1:] if line[:1].strip()] == [code.code for code in of_topic]
    assert "    A node is one machine, and Slurm's daemons do not start if a node name is listed twice.\n" in shown


def test_a_topic_that_is_a_field_too_is_named_by_its_page() -> None:
    assert run("monitoring.md").stdout.startswith("Monitoring: ")
    rows = json.loads(run("monitoring.md", "--format", "json").stdout)["codes"]
    assert all(row["why"] and row["code"] in CODES for row in rows)
    assert "did you mean 'nodes-and-names'?" in str(run("nodes-and-name").exception.hint)


def test_all_codes_for_programs() -> None:
    document = json.loads(CliRunner().invoke(group, ["explain", "--format", "json"]).output)
    codes = {row["code"]: row for row in document["codes"]}
    assert (document["version"], len(codes)) == (1, len(CODES))
    assert codes["host-duplicate"]["severity"] == "error"


@pytest.mark.slow
def test_a_line_of_the_manifest_is_none_of_a_rendered_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(group, ["init"]).exit_code == 0
    wrong = CliRunner().invoke(group, ["explain", "manifest.yaml:14"]).exception
    assert isinstance(wrong, ClustergenError)
    assert (wrong.message, wrong.exit_code) == ("manifest.yaml is the manifest, not a rendered file", 2)
    assert wrong.hint == "for a field of it, name the field: clustergen explain slurm.partitions"


@pytest.mark.parametrize(
    ("word", "fields"),
    [
        ("GrpTRESMins", ["slurm.qos.NAME.group_tres_minutes", "slurm.accounts.NAME.group_tres_minutes"]),
        ("MaxJobsPU", ["slurm.qos.NAME.max_jobs_per_user"]),
        ("GraceTime", ["slurm.partitions.NAME.grace_time", "slurm.qos.NAME.grace_time"]),
        ("NCCL_IB_HCA", ["nccl.env.NCCL_IB_HCA"]),
        ("UCX_TLS", ["ucx.env.UCX_TLS"]),
        ("DCGM_FI_DEV_ECC_CURRENT", ["monitoring.dcgm.counters"]),
    ],
)
def test_settings_of_sacctmgr_and_variables_lead_to_their_fields(word: str, fields: list[str]) -> None:
    document = json.loads(CliRunner().invoke(group, ["explain", word, "--format", "json"]).output)
    assert [place["fields"][0] for place in document["places"]] == fields
    for field in fields:
        assert isinstance(about(field.removesuffix(f".{word}")), About)
