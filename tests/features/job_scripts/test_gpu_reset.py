"""The reset of GPUs by the epilog, with an nvidia-smi that refuses a reset where the real one does."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from clustergen.catalogue.gpu_health import reset_scope
from clustergen.catalogue.hardware import gpus
from clustergen.verify.sandbox import Outcome
from clustergen.verify.slurm_roots import root_with
from strategies.slurm_scripts import AT_ONCE, EPILOG, HEALTH, PROGRAMS, Node, drained, node
from strategies.slurm_trees import GPU, cluster, gpu_type
from strategies.trees import node_files, text_of

MANAGER = "nvidia-fabricmanager.service"
UNITS = f"{MANAGER} nvidia-dcgm.service nvidia-dcgm-exporter.service"
KEPT = {"memory": "2, 4, Disabled\n3, 40960, Disabled\n"}
# A reset is refused, in the words of issue 1690 of NVIDIA/NVSentinel, while persistence mode or DCGM keeps a GPU open.
# `after` is what `memory` becomes; without it, the reset fails.
SMI = """list=$(sed -nE 's/.*-i ([0-9,]+).*/\\1/p' <<<"$*")
mine() { awk -F, -v "list=,$list," 'index(list, "," $1 ",")'; }
case "$*" in
  *--gpu-reset*)
    if [ "$(cat persistence)" = Enabled ] || grep -q dcgm active; then
      printf 'The following GPUs could not be reset:\\n  GPU 00000000:1A:00.0: In use by another client\\n'; exit 255
    fi
    [ -e after ] || { echo "GPU 00000000:1A:00.0: Unknown Error"; exit 255; }
    cp after memory; : >recovery; echo "$list" >>resets
    echo "GPU 00000000:1A:00.0 was successfully reset." ;;
  *-pm*) case "$*" in *"-pm 0") echo Disabled ;; *) echo Enabled ;; esac >persistence ;;
  *persistence_mode*) mine <gpus | sed "s/ .*/ $(cat persistence)/" ;;
  *memory.used*) mine <memory ;;
  -i*index,uuid*) mine <gpus ;;
  *"query-gpu=index "*) mine <gpus | cut -d, -f1 ;;
  *" -q") for minor in ${list//,/ }; do echo "    Minor Number                          : $minor"; done ;;
"""
SYSTEMCTL = """case "$1" in
  is-active) tr ' ' '\\n' <active | grep -qx "${@: -1}" ;;
  stop) [ ! -e stuck ] && sed -i "s/ *$2\\b//" active ;;
  start) shift 2; echo "$(cat active) $*" >active ;;
esac"""


class Scene(NamedTuple):
    """A situation, and what follows."""

    shell: str
    resets: str  # lists of GPUs that were reset
    reason: str  # of the drain; empty: none
    active: str = UNITS
    gpus: str = "2,3"


OPEN = "touch /dev/nvidia3; cp /usr/bin/sleep nv-fabricmanager; $program 99 3</dev/nvidia3 & begun;"
REQUESTED = "printf '2, None\\n3, GPU Reset\\n' >/run/clustergen/recovery; : >/run/clustergen/memory;"
GOOD = "echo 3, 4, Disabled >/run/clustergen/after;"
BOTH = "GPU 3: 40960 MiB stay allocated"
TWICE = """mkdir -m 700 /run/clustergen-gpu-resets
{ date +%s; date +%s; date -d '2 days ago' +%s; } >/run/clustergen-gpu-resets/GPU-3;"""
SCENES = {
    "memory that stays is freed": Scene(GOOD, "3", ""),
    "a requested reset is made": Scene(REQUESTED + GOOD, "3", ""),
    "the reset fails": Scene("", "", f"{BOTH}; not reset: nvidia-smi (255): GPU 00000000:1A:00.0: Unknown Error"),
    "the reset does not help": Scene("cp memory after;", "3", f"{BOTH}; after a reset: {BOTH}"),
    "without fabric manager, another job may have the others": Scene(
        GOOD, "", f"{BOTH}; not reset: GPU 3 can be reset only with GPUs 0,1,2,3,4,5,6,7, as {MANAGER} does not run",
        UNITS.removeprefix(MANAGER).strip(),
    ),
    "without fabric manager, the job has all": Scene(
        GOOD, "3,0,1,2,4,5,6,7", "", UNITS.removeprefix(MANAGER).strip(), "0,1,2,3,4,5,6,7"
    ),
    "fabric manager may have it open": Scene(f"program=./nv-fabricmanager; {OPEN} {GOOD}", "3", ""),
    "a process has it open": Scene(f"program=sleep; {OPEN} {GOOD}", "", f"{BOTH}; not reset: open in sleep (PID)"),
    "DCGM does not stop": Scene(
        f"touch stuck; {GOOD}", "",
        f"{BOTH}; not reset: nvidia-dcgm-exporter.service does not stop, and keeps the GPUs open",
    ),
    "the third within a day": Scene(TWICE + GOOD, "", f"{BOTH}; GPU 3 was reset 2 times within a day"),
    "the third, one of them earlier": Scene(TWICE.replace("{ date +%s; ", "{ ") + GOOD, "3", ""),
    "nothing is wrong": Scene(": >/run/clustergen/memory;", "", ""),
}  # fmt: skip


def play(directory: Path, scene: Scene, **changes: Any) -> Outcome:
    root = root_with("pgrep")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    programs = {"nvidia-smi": SMI + PROGRAMS["nvidia-smi"].partition("\n")[2], "systemctl": SYSTEMCTL}
    tree = cluster(directory, node_types={"gpu": {"system": "dgx-h100", "nics": GPU["nics"]}}, **changes)
    box = Node(tree, "c1", root, directory, programs)
    outputs = {**KEPT, "persistence": "Enabled\n", "active": scene.active, "resets": ""}
    return box.run(EPILOG, f"{AT_ONCE}; cd /run/clustergen; {scene.shell}", outputs, SLURM_JOB_GPUS=scene.gpus)


@pytest.mark.many
@pytest.mark.real
@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_a_gpu_is_reset_or_the_node_drained_with_the_evidence(scene: Scene, tmp_path: Path) -> None:
    done = play(tmp_path, scene)
    pid = done.files["alive"].strip() or "PID"
    assert done.files["resets"].strip() == scene.resets, done
    assert drained(done).replace(f"({pid})", "(PID)") == (scene.reason and f"gpu reset: {scene.reason}")
    assert done.code == bool(scene.reason)
    # Everything that was stopped runs again.
    assert set(done.files["active"].split()) == set(scene.active.split())
    assert done.files["persistence"] == "Enabled\n"


@pytest.mark.real
def test_without_resets_the_node_drains_at_once(tmp_path: Path) -> None:
    done = play(tmp_path, SCENES["memory that stays is freed"], slurm={"scripts": {"gpu_resets": 0}})
    assert (drained(done), done.files["resets"]) == (f"gpu reset: {BOTH}", "")


ALL = ",".join(map(str, range(8)))
LOCK = "/run/clustergen-gpu-resets/lock"


@pytest.mark.real
@pytest.mark.parametrize(
    ("holder", "reason"),
    [("true", "1 of 8 GPUs respond"), ("sleep 99 & while flock -n $lock true; do sleep 0.05; done", "")],
)
def test_the_health_check_does_not_judge_gpus_during_a_reset(holder: str, reason: str, tmp_path: Path) -> None:
    root = root_with("pgrep")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    scene = f"mkdir -m 700 {Path(LOCK).parent}; lock={LOCK}; flock $lock {holder}"
    done = node(tmp_path, root).run(HEALTH, scene, {"gpus": "0, GPU-0\n"})
    assert done.code is not None, done
    assert reason in drained(done)
    assert bool(drained(done)) == bool(reason)


SYSTEMS = {  # each GPU with those that are reset with it, and the unit without which that is so
    "l40s-8": (list("01234567"), ""),
    "ws-4x3090": (list("0123"), ""),
    "dgx1-v100": ([ALL] * 8, ""),
    "dgx2": ([",".join(map(str, range(16)))] * 16, ""),
    "dgx-a100-80": ([ALL] * 8, MANAGER),
    "dgx-h100": ([ALL] * 8, MANAGER),
}


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(("system", "expected"), SYSTEMS.items())
def test_gpus_that_are_reset_together(system: str, expected: tuple[list[str], str], tmp_path: Path) -> None:
    tree = cluster(tmp_path, node_types={"gpu": {"system": system, "nics": GPU["nics"]}})
    text = text_of(tree, "c1", "/etc/clustergen/gpu-reset.sh")
    peers = text.partition("peers=(")[2].partition(")")[0].replace("'", "").split()
    assert (peers, text.partition("fabric_manager=")[2].split("\n")[0].strip("'")) == expected


def test_no_reset_where_jobs_share_gpus_or_a_rack_joins_them(tmp_path: Path) -> None:
    shared = cluster(tmp_path, node_types=gpu_type(shards=4))
    assert not [path for path in node_files(shared, "c1") if "gpu-reset" in path]
    assert {reset_scope(gpus()[name], "nvswitch") for name in ("gb200", "gb300")} == {"never"}
