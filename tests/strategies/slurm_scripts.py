"""The programs around jobs, run at their paths on a node in a sandbox, with simulated GPUs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clustergen.render.tree import Tree
from clustergen.verify import sandbox
from clustergen.verify.sandbox import Outcome
from strategies.slurm_trees import cluster
from strategies.trees import lay_out

GOOD = {
    "gpus": "".join(f"{n}, GPU-{n}\n" for n in range(8)),
    "recovery": "".join(f"{n}, None\n" for n in range(8)),
    "ecc": "".join(f"{n}, 0\n" for n in range(8)),
    "remapped": "".join(f"00000000:{n:02d}:00.0, 0, 0\n" for n in range(8)),
    "nvlink": "".join(
        f"GPU {n}: NVIDIA H100 80GB HBM3 (UUID: GPU-{n})\n" + "".join(f"\t Link {m}: 26.562 GB/s\n" for m in range(18))
        for n in range(8)
    ),
    "temperature": "".join(f"GPU-{n}, {n}, 40, 0\n" for n in range(8)),
    "memory": "".join(f"{n}, 4, Disabled\n" for n in range(8)),
    "apps": "",
    "slowdowns": "".join(f"{n}, 0x0000000000000001\n" for n in range(8)),
    "jobs": "",
    "dcgm": '{"body": {"Overall Health": {"value": "Healthy"}}, "header": ["Health Monitor Report"]}',
    "node": "NodeName=c1 Arch=x86_64 State=IDLE ThreadsPerCore=2 Comment=(null) ",
}
# Stand-ins for programs that need hardware or daemons; what they are told to say lies in /run/clustergen.
PROGRAMS = {
    "nvidia-smi": """case "$*" in
  *query-compute-apps=pid*) cut -d, -f2 apps ;;
  *query-compute-apps=*name*) printf '%b\n' "$(cat apps)" ;;
  *query-compute-apps*) cut -d, -f1,2 apps ;;
  *query-remapped-rows*) cat remapped ;;
  *index,gpu_recovery_action*) cat recovery ;;
  *gpu_recovery_action*) cut -d" " -f2- recovery ;;
  *ecc.errors*) cat ecc ;;
  *temperature*) cat temperature ;;
  *memory.used*) cat memory ;;
  *reasons.active*) cat slowdowns ;;
  *nvlink*) cat nvlink ;;
  *index,uuid*) cat gpus ;;
  *query-gpu=index*) cut -d, -f1 gpus ;;
  -L) [ -s gpus ] ;;
esac""",
    "logger": 'printf "%s\\n" "${@: -1}" >>journal',
    "squeue": "cat jobs",
    "scontrol": 'if [ "$1" = -o ]; then cat node; else printf "%s|" "$@" >>updates; fi',
    "dcgmi": 'case "$*" in *-s*) echo watched >>updates ;; *) cat dcgm ;; esac',
}


class Node:
    """One node of a rendered tree, in a sandbox."""

    def __init__(
        self, tree: Tree, host: str, root: Path, directory: Path, programs: Mapping[str, str] | None = None
    ) -> None:
        bin_directory = directory / "programs/usr/bin"
        bin_directory.mkdir(parents=True)
        for name, body in {**PROGRAMS, **(programs or {})}.items():
            (bin_directory / name).write_text(f"#!/bin/bash\ncd /run/clustergen || exit\n{body}\n", encoding="utf-8")
            (bin_directory / name).chmod(0o755)
        mount = shutil.which("mount")  # which the roots lack
        assert mount is not None
        shutil.copy(mount, bin_directory)
        files = ((lay_out(tree, host, directory / "node"), "/"), (directory / "programs", "/"))
        self.box = sandbox.Sandbox(root, files=files, hostname=host)

    def run(self, script: str, before: str = "", outputs: Mapping[str, str] | None = None, **env: str) -> Outcome:
        """`before` is shell that sets the scene, with `as_user UID COMMAND…` to start something."""
        scene = f"""
begun() {{ # waits until the process that was started last is no longer this shell or setpriv
  local word
  until read -rd '' word <"/proc/$!/cmdline" && [[ $word != /bin/bash && $word != setpriv ]]; do
    kill -0 $! && sleep 0.02 || return
  done
}} 2>/dev/null
as_user() {{ setpriv --reuid "$1" --regid "$1" --clear-groups "${{@:2}}" & begun; }}
cgroup_of() {{ echo "0::$2" >"/run/cgroup.$1"; mount --bind "/run/cgroup.$1" "/proc/$1/cgroup"; }}
mkdir -p /run/lock
{before}
/bin/bash -c '{script}'; status=$?
{{ jobs -rp; }} >/run/clustergen/alive
exit $status"""
        notes = {**GOOD, **(outputs or {}), "scene": scene}
        job = {"SLURM_JOB_ID": "77", "SLURM_JOB_UID": "1000", "SLURM_JOB_USER": "alice", "SLURMD_NODENAME": "c1"}
        return sandbox.run(
            self.box, ["/bin/bash", "/run/clustergen/scene"], timeout=300, env={**job, **env}, notes=notes
        )


def node(directory: Path, root: Path, **changes: Any) -> Node:
    return Node(cluster(directory, **changes), "c1", root, directory)


AT_ONCE = "sed -i -E 's/sleep (1|2|10)$/sleep 0.1/' /etc/slurm/*.d/*"
"""Shell for a scene: scripts look again without a pause."""
HEALTH = "env -i SLURMD_NODENAME=c1 CUDA_VISIBLE_DEVICES=0 /etc/slurm/health"
PROLOG = "exec env -i $(env | grep ^SLURM_) CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-} /etc/slurm/prolog"
EPILOG = "exec env -i $(env | grep ^SLURM_) /etc/slurm/epilog"


def drained(outcome: Outcome) -> str:
    """The reason that the node was drained with; empty when it was not."""
    for update in outcome.files.get("updates", "").split("update|"):
        if update.startswith("NodeName=c1|State=DRAIN|"):
            return update.removeprefix("NodeName=c1|State=DRAIN|Reason=").rstrip("|")
    return ""
