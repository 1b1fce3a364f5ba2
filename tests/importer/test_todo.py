"""Values that Slurm's files lack are listed at the end of the manifest and in the report, with examples that work."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from clustergen.compile import validate
from clustergen.importer.directory import import_directory
from clustergen.importer.report import as_text
from clustergen.importer.todo import SECTIONS

BARE = "ClusterName=c\nSlurmctldHost=h\nSlurmUser=slurm\nStateSaveLocation=/srv\n"
DBD = "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=h\n"
NODES = "".join(
    f"NodeName=n{name} CPUs=4 RealMemory={mib}\n" for name, mib in (("[1-4]", 64000), ("5", 128000), ("6", 32000))
)
PARTITION = "PartitionName=p Nodes=ALL Default=YES\n"


def _todo(directory: Path, conf: str, **files: str) -> tuple[str, list[str]]:
    """The manifest, and what its end lists."""
    (directory / "slurm.conf").write_text(conf)
    for name, content in files.items():
        (directory / name.replace("_", ".")).write_text(content)
    result = import_directory(directory, version="24.11")
    before, _, after = result.text.partition("\n# To do, as Slurm's files do not contain it:\n")
    listed = [line.removeprefix("# - ") for line in after.splitlines()]
    assert [note.text for note in result.notes if note.kind == "todo"] == listed
    assert ("To do, as Slurm's files do not contain it:\n  " in as_text(result)) == bool(listed)
    return before, listed


def test_missing_sections_and_names_made_of_hardware(tmp_path: Path) -> None:
    slurmdbd = "DbdHost=h\nSlurmUser=slurm\nStorageType=accounting_storage/mysql\n"
    _, listed = _todo(tmp_path, BARE + DBD + NODES + PARTITION, slurmdbd_conf=slurmdbd)
    assert listed[:-1] == [f"{section}: {text}" for section, text in SECTIONS.items()]
    assert listed[-1].startswith("node_types: n-125g, n-31g have names made of their memory and CPUs; ")


@pytest.mark.slow
def test_values_of_the_files_are_not_listed(tmp_path: Path) -> None:
    topology = "SwitchName=s1 Nodes=n[1-3]\nSwitchName=s2 Nodes=n[4-6]\nSwitchName=s0 Switches=s[1-2]\n"
    conf = BARE + "TopologyPlugin=topology/tree\nNodeName=n[1-6] CPUs=4 RealMemory=64000\n" + PARTITION
    _, listed = _todo(tmp_path, conf, topology_conf=topology)
    assert [line.partition(":")[0] for line in listed] == ["networks.management", "storage", "monitoring", "login"]


@pytest.mark.slow
def test_the_examples_are_valid_and_leave_nothing_to_do(tmp_path: Path) -> None:
    before, _ = _todo(tmp_path, BARE + NODES.splitlines()[0] + "\n" + PARTITION)
    data = yaml.safe_load(before)
    for section in ("networks.management", "networks.fabric", "storage"):
        *parents, name = section.split(".")
        below = data
        for parent in parents:
            below = below[parent]
        below[name] = yaml.safe_load(SECTIONS[section].partition(": ")[2])
    data["nodes"].append(yaml.safe_load(SECTIONS["login"].partition(": ")[2].removesuffix(" in nodes")))
    data["nodes"][0]["roles"].append("monitoring")
    (tmp_path / "manifest.yaml").write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    compiled = validate(tmp_path / "manifest.yaml")
    assert compiled.ok, compiled.diagnostics


def test_scripts_that_the_directory_does_not_contain(tmp_path: Path) -> None:
    (tmp_path / "prolog.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    programs = "Prolog=/etc/slurm/prolog.sh\nEpilog=/opt/site/epilog.sh\nHealthCheckProgram=/usr/sbin/nhc\n"
    _, listed = _todo(tmp_path, BARE + programs + NODES + PARTITION)
    (line,) = (line for line in listed if "scripts" in line)
    assert line == (
        "scripts that stay yours: /opt/site/epilog.sh (Epilog); leave them on the nodes, or add them as"
        " site/slurm_compute/opt/site/epilog.sh"
    )
