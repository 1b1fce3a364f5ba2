"""Keys of older releases, and keys that a field stands for: each in the place of today."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.importer.directory import import_directory
from importer.conftest import Imported

NODES = """NodeName=n[1-2] NodeAddr=10.0.0.[1-2] CPUs=4 RealMemory=4000
PartitionName=p Nodes=ALL Default=YES
PartitionName=q Nodes=ALL PriorityTier=2
"""
HEAD = "ClusterName=c\nSlurmctldHost=head(10.0.0.9)\nSlurmUser=slurm\nStateSaveLocation=/var/spool/slurmctld\n"


@pytest.mark.slow
def test_fields_take_what_they_stand_for(imported: Imported) -> None:
    text = "PriorityType=priority/multifactor\nPriorityWeightAge=10\nPreemptType=preempt/partition_prio\n"
    text += "PreemptMode=GANG,SUSPEND\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=db\n"
    _, data = imported("22.05", slurm_conf=HEAD + text + NODES)
    slurm = data["slurm"]
    assert slurm.get("options") is None
    assert slurm["priority"] == {"weights": {"age": 10}}
    assert slurm["preemption"] == {"by": "partition", "mode": "suspend", "youngest_first": False}
    assert slurm["accounting"] == {"slurmdbd": "db"}


def test_weights_that_priority_basic_does_not_read(imported: Imported) -> None:
    _, data = imported("22.05", slurm_conf=HEAD + "PriorityWeightAge=10\n" + NODES)
    assert data["slurm"]["options"] == {"PriorityWeightAge": 10}


def test_the_parameter_that_replaces_fast_schedule(tmp_path: Path) -> None:
    """The release is the oldest one: none starts with this value."""
    (tmp_path / "slurm.conf").write_text(HEAD + "FastSchedule=2\nSlurmdParameters=shutdown_on_reboot\n" + NODES)
    result = import_directory(tmp_path)
    assert (str(result.release), result.errors) == ("22.05", ())
    assert 'SlurmdParameters: "shutdown_on_reboot,config_overrides"' in result.text
    assert [item.change.key for item in result.compared if not item.meant] == []
