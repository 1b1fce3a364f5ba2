"""Real ReFrame judges jobs; instead of Slurm, an srun on PATH runs the gate's program here, once for each node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.module_utils import accept_run as runs
from ansible_collections.clustergen.cluster.plugins.module_utils.accept_cluster import Acceptance
from clustergen import compile as compiler
from clustergen.render.write import write
from clustergen.verify.reframe import START, reframe_directory
from strategies.frameworks import PLACE, frameworks
from strategies.trees import manifest

pytestmark = [pytest.mark.real, pytest.mark.slow]

PLAYBOOKS = Path(__file__).parents[3] / "playbooks"
FILES = PLAYBOOKS / "ansible_collections/clustergen/cluster/roles/accept/files"
MODULE = PLAYBOOKS / "ansible_collections/clustergen/cluster/plugins/modules/accept.py"
SRUN = """\
#!/bin/bash
for option; do case $option in --nodelist=*) nodes=${option#*=} ;; esac; done
while [[ $1 == -* ]]; do shift; done
task=0
for node in ${nodes//,/ }; do
  [ "$node" = c3 ] && { echo 'srun: error: Unable to allocate resources: Requested nodes are busy' >&2; exit 1; }
  [ "$node" = c4 ] && { echo DOWN+NOT_RESPONDING >"${0%/*}/c4"; exec sleep 600; }
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
    assert reframe_directory().is_dir(), "run clustergen setup reframe"
    command = f"#!/bin/sh\nPYTHONPATH={reframe_directory()} exec {sys.executable} -c '{START}' \"$@\"\n"
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
    hardware = gate("hardware", 15, ("cpus", "least", 1), ("memory", "least", 1))
    results = reframe.run(hardware, [["c1"], ["c3"], ["c4"]])
    assert [(result["status"], result["hosts"]) for result in results] == [
        ("passed", ["c1"]),
        ("not run", ["c3"]),
        ("failed", ["c4"]),
    ]
    assert results[0]["readings"]["cpus"] >= 1
    assert "Requested nodes are busy" in results[1]["reason"]
    assert results[2]["reason"] == "no end within 15 s"


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


def test_a_reframe_that_fails_itself_accuses_no_node(reframe: runs.Reframe) -> None:
    program(Path(reframe.program), "#!/bin/sh\necho 'ModuleNotFoundError: reframe' >&2\nexit 3\n")
    (result,) = reframe.run(gate("hardware", 30), [["c1"]])
    reason = "ReFrame ended without a report (exit status 3): ModuleNotFoundError: reframe"
    assert (result["status"], result["reason"]) == ("not run", reason)


def test_a_run_that_goes_on_repeats_what_was_not_run(reframe: runs.Reframe) -> None:
    hardware = gate("hardware", 60, ("cpus", "least", 1))
    acceptance = Acceptance.__new__(Acceptance)  # without a slurmctld to ask for the nodes
    acceptance.gates, acceptance.types, acceptance.reframe = [hardware], {"gpu": ["c1", "c2"]}, reframe
    acceptance.left_out, acceptance.asked = {}, {"drain": True}
    state = runs.State(str(Path(reframe.directory) / "state.json"), "digest", again=False)
    earlier = {"gate": "gpu/hardware", "stage": "node", "readings": {"cpus": 4711}, "reason": "", "status": "passed"}
    results = {
        "gpu/hardware@c1": {**earlier, "hosts": ["c1"]},
        "gpu/hardware@c2": {**earlier, "hosts": ["c2"], "readings": {}, "status": "not run"},
    }
    state.data.update(held=["c1", "c2"], results=results)
    acceptance.run(state)
    assert state.data["results"]["gpu/hardware@c1"]["readings"] == {"cpus": 4711}, "it is not measured again"
    repeated = state.data["results"]["gpu/hardware@c2"]
    assert repeated["status"] == "passed"
    assert repeated["readings"]["cpus"] >= 1


SCONTROL = """\
#!/bin/bash
here=${0%/*}
case "$*" in
  "show hostnames "*) printf '%s\\n' c1 c2 c4 ;;
  *"show node")
    echo 'NodeName=c1 State=IDLE Version=24.11.5'
    echo 'NodeName=c2 State=IDLE Version=24.11.5'
    echo "NodeName=c4 State=$(cat "$here/c4" 2>/dev/null || echo IDLE) Version=24.11.5" ;;
  update*) echo "$*" >>"$here/updates" ;;
esac
"""


@pytest.fixture
def module(reframe: runs.Reframe, tmp_path: Path) -> Callable[..., tuple[int, dict[str, Any]]]:
    """Runs the module with other commands of Slurm on PATH; its status and answer."""
    place = Path(reframe.directory)
    shutil.copy(tmp_path / "rendered/acceptance/gates.json", place)
    program(tmp_path / "bin/scontrol", SCONTROL)
    for name in ("scancel", "squeue"):
        program(tmp_path / f"bin/{name}", "#!/bin/sh\n")

    def run(largest_file: str = "unlimited", **arguments: Any) -> tuple[int, dict[str, Any]]:
        words = {"directory": str(place), "reframe": reframe.program, **arguments}
        done = subprocess.run(
            ["bash", "-c", f"ulimit -f {largest_file} && exec {sys.executable} {MODULE}"],
            input=json.dumps({"ANSIBLE_MODULE_ARGS": words}), capture_output=True, text=True, timeout=120, check=False,
            env={**os.environ, "PYTHONPATH": str(PLAYBOOKS)},
        )  # fmt: skip
        return done.returncode, json.loads(done.stdout)

    return run


def test_a_full_disk_ends_the_run_with_its_path(module: Any, reframe: runs.Reframe) -> None:
    """A limit of file sizes is the disk on which the state is written."""
    place = Path(reframe.directory)
    status, answer = module(largest_file="0", nodes=["c1"])
    words = "file too large; repair it and run this again: finished gates are not repeated"
    assert (status, answer["msg"]) == (1, f"{place}/state.json: {words}")


def test_a_node_that_goes_down_is_drained_and_the_others_go_on(
    module: Any, reframe: runs.Reframe, tmp_path: Path
) -> None:
    """c4 stops answering in its own gate: Slurm ends its job, and neither the pairs nor the whole wait for it."""
    file = Path(reframe.directory, "gates.json")
    document = json.loads(file.read_text(encoding="utf-8"))
    alone = {**gate("hardware", 5, ("cpus", "least", 1)), "drains": False}
    document["gates"] = [
        alone,
        {**alone, "name": "gpu/pair", "stage": "pair", "nodes": 2, "seconds": 30},
        {**alone, "name": "gpu/whole", "stage": "whole", "nodes": 0, "seconds": 30},
    ]
    file.write_text(json.dumps(document), encoding="utf-8")

    status, answer = module(patience=0, seconds=1)

    assert (status, answer["passed"], answer["changed"]) == (0, False, True)
    reason = "acceptance: gpu/hardware: the node went down (down+not_responding)"
    assert answer["drained"] == {"c4": reason}
    updates = (tmp_path / "bin/updates").read_text(encoding="utf-8").splitlines()
    assert updates == [
        f"update NodeName=c4 State={state} Reason=clustergen playbook: {reason}" for state in ("DOWN", "DRAIN")
    ], "DOWN ends its job, and DRAIN keeps it from coming back when it boots"
    report = json.loads(Path(answer["report"]).with_suffix(".json").read_text(encoding="utf-8"))
    results = {f"{one['gate']}@{','.join(one['hosts'])}": (one["status"], one["reason"]) for one in report["results"]}
    assert results == {
        "gpu/hardware@c1": ("passed", ""),
        "gpu/hardware@c2": ("passed", ""),
        "gpu/hardware@c4": ("failed", "c4 went down during this gate"),
        "gpu/pair@c1,c2": ("passed", ""),
        "gpu/whole@c1,c2": ("passed", ""),
    }


BROKEN = {"": "passed", "s/SGD(model.parameters(), 0.02/SGD(model.parameters(), 1e30/": "failed"}


@pytest.mark.long
@pytest.mark.parametrize("change", BROKEN, ids=["learns", "diverges"])
def test_a_network_trains_with_the_real_pytorch(change: str, reframe: runs.Reframe, tmp_path: Path) -> None:
    """On the processor; where the rate of learning is absurd, the loss is no number, and the reason says so."""
    torch = frameworks() / PLACE / "torch"
    interpreter = f"PYTHONPATH={torch} exec {shutil.which('python3.11')}"
    edit = f"""case $1 in -) sed '{change}' >$0.text; shift; set -- $0.text "$@" ;; esac"""
    python = program(tmp_path / "bin/python-torch", f'#!/bin/bash\n{edit}\n{interpreter} "$@"\n')
    training = gate("training", 400, ("ranks", "equal", 1))
    training["arguments"] = {"PYTHON": str(python), "GPUS": "0"}
    (result,) = reframe.run(training, [["c1"]])
    assert result["status"] == BROKEN[change], result
    assert result["readings"]["images"] > 0
    if change:
        assert "the loss " in result["reason"]
