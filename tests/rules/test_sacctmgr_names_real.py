"""Other names of sacctmgr's settings: what `validate` takes them for is what sacctmgr sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.catalogue import sacctmgr
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.slurm_daemons import DAEMONS
from strategies.slurm_trees import cluster
from strategies.trees import lay_out

pytestmark = [pytest.mark.real, pytest.mark.slow]

# By name: the value that it gets; those from before TRES take a number.
NAMES = {
    **dict.fromkeys(["MaxJobsPU", "MaxJobsPA", "MaxSubmitJobsPU", "MaxJobs", "MaxSubmit", "GrpJobsA", "MaxWall"], "7"),
    **dict.fromkeys(["MaxJobsAccruePU", "MaxJobsAccruePA", "GrpSubmit", "GrpCPUs", "GrpMemory", "GrpNodes"], "7"),
    **dict.fromkeys(["GrpCPUMins", "GrpCPURunMins", "MaxCPUsPerJob", "MaxNodesPerUser", "MaxCPUsPerUser"], "7"),
    **dict.fromkeys(["MaxCPUMins", "MinCPUsPerJob", "MaxNodes"], "7"),
    **dict.fromkeys(["MaxTRES", "MaxTRESMins", "MaxTRESPU", "MaxTRESPA", "MaxTRESPJ", "MaxTRESPN", "MinTRES"], "cpu=7"),
    **dict.fromkeys(["MaxTRESRunMinsPerUser", "MaxTRESRunMinsPerAccount", "MaxTRESRunMinsPU"], "cpu=7"),
}
_SCRIPT = """
sacctmgr -iQ add cluster small
show() { sacctmgr -nP show qos normal format="$1"; }
while read -r name value; do
  show "$columns" >/tmp/before
  sacctmgr -iQ modify qos normal set "$name=$value" >/tmp/answer 2>&1
  if grep -q 'Unknown option' /tmp/answer; then continue; fi
  show "$columns" | tr '|' '\n' >/tmp/after
  echo "$name|$(tr '|' '\n' </tmp/before | paste -d'|' - /tmp/after | awk -F'|' '$1 != $2 { print NR }')"
  sacctmgr -iQ modify qos normal set "$name=${value%7}-1" >/dev/null 2>&1
done </run/clustergen/names
"""


def test_each_name_sets_what_it_is_taken_for(slurm: SlurmInstall, tmp_path: Path) -> None:
    release = ".".join(slurm.version.split(".")[:2])
    tree = cluster(tmp_path, release, slurm={"mpi_default": "pmi2"})
    columns = [option.name for option in sacctmgr.options("qos")]
    box = sandbox.Sandbox(
        slurm.path,
        files=((lay_out(tree, "head", tmp_path / "root"), "/"),),
        empty=("/etc/slurm",),
        hosts="10.0.0.1 head\n",
        hostname="head",
        addresses=("10.0.0.1",),
    )
    notes = {
        "script": f"columns={','.join(columns)}\n{DAEMONS}{_SCRIPT}",
        "names": "".join(f"{name} {value}\n" for name, value in NAMES.items()),
    }
    done = sandbox.run(box, ["/bin/bash", "/run/clustergen/script"], timeout=300, notes=notes)
    changed = dict(line.split("|") for line in done.stdout.splitlines() if "|" in line)
    assert len(changed) >= len(NAMES) - 4, done.stdout + done.stderr  # 22.05 has fewer
    for name, column in changed.items():
        alias = sacctmgr.alias_of("qos", name)
        row = sacctmgr.option("qos", name) or (alias[0] if alias else None)
        assert row, name
        assert (name, columns[int(column) - 1]) == (name, row.name)
