"""Cycles of preempting QOS before a real slurmdbd."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.slurm_daemons import DAEMONS
from strategies.slurm_trees import cluster
from strategies.trees import lay_out

pytestmark = [pytest.mark.real, pytest.mark.slow]

_SCRIPT = """
sacctmgr -iQ add cluster small; sacctmgr -iQ add qos a,b,c
step b sacctmgr -i modify qos a set preempt=b
step c sacctmgr -i modify qos b set preempt=c
step a sacctmgr -i modify qos c set preempt=a
sacctmgr -nP show qos format=name,preempt
"""


def test_sacctmgr_refuses_a_cycle_of_three(slurm: SlurmInstall, tmp_path: Path) -> None:
    """Which `validate` refuses too: a script of accounts would end there, with the rest undone."""
    release = ".".join(slurm.version.split(".")[:2])
    tree = cluster(
        tmp_path, release, slurm={"mpi_default": "pmi2", "qos": {"a": {}}, "accounts": {"x": {"qos": ["a"]}}}
    )
    box = sandbox.Sandbox(
        slurm.path,
        files=((lay_out(tree, "head", tmp_path / "root"), "/"),),
        empty=("/etc/slurm",),
        hosts="10.0.0.1 head\n",
        hostname="head",
        addresses=("10.0.0.1",),
    )
    done = sandbox.run(box, ["/bin/bash", "/run/clustergen/script"], timeout=300, notes={"script": DAEMONS + _SCRIPT})
    steps = {part[0]: part for part in done.stdout.split("== ")[1:]}
    assert ["status 0" in steps[name] for name in "bca"] == [True, True, False], done.stdout
    assert "loop" in steps["a"].lower()
    rows = done.stdout.splitlines()
    assert ("a|b" in rows, "b|c" in rows, "c|" in rows) == (True, True, True)
