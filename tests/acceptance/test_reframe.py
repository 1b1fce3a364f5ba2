"""Real ReFrame judges jobs; instead of Slurm, an srun on PATH runs the gate's program here, once for each node."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.module_utils import accept_run as runs
from clustergen import compile as compiler
from clustergen.render.write import write
from clustergen.verify.reframe import START, reframe_folder
from strategies.trees import manifest

pytestmark = [pytest.mark.real, pytest.mark.slow]

FILES = Path(__file__).parents[2] / "playbooks/ansible_collections/clustergen/cluster/roles/accept/files"
SRUN = """\
#!/bin/bash
for option; do case $option in --nodelist=*) nodes=${option#*=} ;; esac; done
while [[ $1 == -* ]]; do shift; done
task=0
for node in ${nodes//,/ }; do
  [ "$node" = c3 ] && { echo 'srun: error: Unable to allocate resources: Requested nodes are busy' >&2; exit 1; }
  [ "$node" = c4 ] && exec sleep 600
  SLURMD_NODENAME=$node SLURM_JOB_ID=7 SLURM_PROCID=$task "$@" 2>&1 | sed "s/^/$task: /"
  task=$((task + 1))
done
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def reframe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> runs.Reframe:
    """ReFrame with the rendered settings of a small cluster."""
    file = tmp_path / "manifest.yaml"
    file.write_text(json.dumps(manifest(acceptance={"enabled": True})), encoding="utf-8")
    tree, diagnostics = compiler.render(compiler.validate(file), file)
    assert tree is not None, diagnostics
    write(tree, tmp_path / "rendered")
    place = tmp_path / "place"
    shutil.copytree(FILES, place / "checks")
    shutil.copy(tmp_path / "rendered/acceptance/reframe.yaml", place)
    assert reframe_folder().is_dir(), "run clustergen setup reframe"
    command = f"#!/bin/sh\nPYTHONPATH={reframe_folder()} exec {sys.executable} -c '{START}' \"$@\"\n"
    program(tmp_path / "bin/srun", SRUN)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}/usr/bin{os.pathsep}/bin")
    return runs.Reframe(
        str(place), str(program(tmp_path / "bin/reframe", command)), "pmix", {"GATE_SECONDS": "1"}, [], 0
    )


def gate(kind: str, seconds: int, *floors: tuple[str, str, float]) -> dict[str, Any]:
    return {
        "name": f"gpu/{kind}",
        "kind": kind,
        "type": "gpu",
        "stage": "node",
        "nodes": 1,
        "tasks_per_node": 1,
        "gpus": 0,
        "seconds": seconds,
        "drains": True,
        "arguments": {},
        "floors": [{"metric": m, "relation": relation, "value": value, "unit": "x"} for m, relation, value in floors],
    }


def test_jobs_pass_fail_hang_and_find_no_free_node(reframe: runs.Reframe) -> None:
    hardware = gate("hardware", 30, ("cpus", "least", 1), ("memory", "least", 1))
    results = reframe.run(hardware, [["c1"], ["c3"], ["c4"]])
    assert [(result["status"], result["hosts"]) for result in results] == [
        ("passed", ["c1"]),
        ("not run", ["c3"]),
        ("failed", ["c4"]),
    ]
    assert results[0]["readings"]["cpus"] >= 1
    assert "Requested nodes are busy" in results[1]["reason"]
    assert results[2]["reason"] == "no end within 30 s"


def test_a_floor_is_judged_by_reframe_and_a_missing_program_is_not_run(reframe: runs.Reframe) -> None:
    (low,) = reframe.run(gate("hardware", 60, ("cpus", "equal", 100_000)), [["c1"]])
    assert low["status"] == "failed"
    assert low["reason"].startswith("cpus ")
    assert low["reason"].endswith(" != 100000 x")
    (absent,) = reframe.run(gate("gpu-copy", 60), [["c1"]])
    assert (absent["status"], absent["reason"]) == ("not run", "not installed: nvbandwidth")
    # A reading that never came passes no floor.
    (silent,) = reframe.run(gate("hardware", 60, ("temperature", "most", 90)), [["c1"]])
    assert silent["status"] == "failed"
    assert "no reading of temperature" in silent["reason"]
