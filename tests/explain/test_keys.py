"""`clustergen explain KEY`: from a key of Slurm's files to the fields that set it, and back."""

from __future__ import annotations

import json

from click.testing import CliRunner

from clustergen.cli import group
from clustergen.diagnostics import ClustergenError
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
        found = about(f"{prefix}{row.path}")
        if not isinstance(found, About):  # of an entry of nodes alone, or a key of a mapping
            found = about(f"nodes.{row.path}") if block == "NodeName" else about(row.path.rpartition(".")[0])
        assert isinstance(found, About), row.path
        names = {name.split()[0] for name in keys_of(found.steps)}
        if ".".join(found.steps).endswith(row.path):
            assert key in names, (file, block, row.path)


def test_the_command_prints_both_forms() -> None:
    text = CliRunner().invoke(group, ["explain", "ControlMachine"])
    assert (text.exit_code, text.output.splitlines()[-1]) == (0, "    follows from the role slurm-controller")
    document = json.loads(CliRunner().invoke(group, ["explain", "KillWait", "--format", "json"]).output)
    assert [(place["file"], place["options"]) for place in document["places"]] == [("slurm.conf", "slurm.options")]
    wrong = CliRunner().invoke(group, ["explain", "KillWeight"])
    assert isinstance(wrong.exception, ClustergenError)
    assert wrong.exception.exit_code == 2
