"""A Slurm with two nodes on which a user submits job templates that train on CPUs with the real frameworks.

    PYTHONPATH=tests python3 -m strategies.training_cluster SPEC.json        inside namespaces, started by `submitted`

A spec is one of `effects.cluster` with `texts` (name below the user's ~/jobs → text), `commands` (name → command of the
user, run one after the other there) and `environment`. The result has the output of each command.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from effects.cluster import Cluster
from effects.configuration import Configuration

HOME = "/tmp"  # of the user: the machine has it on all nodes
_NAMESPACES = ("--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child")
_LIMIT = 1800

NUMBER = r"[0-9.]+"
JOBS = {
    "ddp": ("pytorch-srun", 1, "train.py --cpu --steps 20 --accumulate 2 --every 10", rf"2 processes, bf16, steps 0 to 20, loss {NUMBER}, {NUMBER} s, \d+ samples/s"),
    "resumed": ("requeue", 1, "train.py --cpu --steps 30", r"2 processes, bf16, steps 20 to 30, "),
    "fp16": ("pytorch-torchrun", 1, "train.py --cpu --steps 10 --precision fp16 --checkpoint fp16.pt", r"2 processes, fp16, steps 0 to 10, "),
    "fsdp": ("fsdp", 1, "train_fsdp.py --cpu --steps 5 --accumulate 2", r"2 processes, bf16, steps 0 to 5, 1052417 of 2104577 parameters"),
    "resharded": ("fsdp", 2, "train_fsdp.py --cpu --steps 10", r"4 processes, bf16, steps 5 to 10, 526337 of 2104577 parameters"),
    "tensor": ("tensor-parallel", 2, "train_tensor_parallel.py --cpu --steps 5", r"2 nodes × 2 parts of a layer, bf16, 5 steps, up has \(256, 256\) here"),
    "pipeline": ("pipeline", 2, "train_pipeline.py --cpu --steps 5", r"2 pipelines of 2 stages, bf16, 5 steps, "),
    "finetune": ("pytorch-srun", 1, "finetune.py --cpu --epochs 2 --batch 4", rf"2 processes, MULTI_CPU, \w+, \d+ steps, loss {NUMBER} → {NUMBER}"),
    "tensorflow": ("tensorflow", 1, "train_tensorflow.py --cpu --epochs 1 --steps 10", r"2 replicas, bf16, epochs 0 to 1, loss "),
    "scaling": ("scaling", 1, "train.py --cpu --steps 10 --every 0", r" 1 +1 +\d+ +100%\n +2 +2 +\d+ +\d+%\n"),
    "unseen": ("pytorch-srun", 1, "", r"this job has GPUs, but PyTorch cannot use them; to train on CPUs nevertheless, add --cpu"),
    "alone": ("fsdp", 1, "train_fsdp.py --cpu", r"one process has nothing to shard"),
    "hangs": ("requeue", 1, "hang.py --cpu --steps 30 --every 10 --stall 5 --checkpoint hang.pt", r"no step for 5 s; the process is here:[\s\S]*queued again[\s\S]*2 processes, bf16, steps 10 to 30, "),
}  # fmt: skip
"""Name → template, tasks of a node, arguments, and what its output has."""
FAILED = {"unseen", "alone"}
# Submits a job, waits for its end, and prints its state and output.
SUBMIT = r"""
job=$(sbatch --parsable --output=out.txt {options} {script} {arguments}) || exit
until [[ $(squeue --noheader --states=all --format=%T --jobs="$job") =~ ^(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL)$ ]]
do
  sleep 0.5
  scontrol update job="$job" starttime=now 2>/dev/null # Slurm would wait two minutes before it starts it again
done
squeue --noheader --states=all --format=%T --jobs="$job"
cat out.txt
rm -f out.txt
"""


def adapted(script: str, tasks: int = 1) -> str:
    """A job script with what the nodes of `effects.configuration` have, and processes that meet at any interface."""
    requests = {"partition": "batch", "ntasks-per-node": str(tasks), "cpus-per-task": "1", "gpus-per-node": "h100:1"}
    for name, value in {**requests, "mem-per-gpu": "3000M"}.items():
        script = re.sub(rf"(?m)^#SBATCH --{name}=.*$", f"#SBATCH --{name}={value}", script)
    return re.sub(r"(?m)^(#SBATCH --nodes)=[3-8]$", r"\1=2", re.sub(r"\binterface=\S+", "interface=''", script))


def submitted(
    root: Path, packages: Path, texts: dict[str, str], commands: dict[str, str], work: Path
) -> dict[str, str]:
    """The output of each command; `packages` is a directory that is laid over the root of a release of Slurm."""
    (work / "run").mkdir(parents=True)
    files = Configuration("22.05", database=False).texts()
    base = {"database": False, "before": "", "after_database": "", "nodes": ["n1", "n2"], "work": str(work / "run")}
    spec = {**base, "layers": [str(packages), str(root)], "files": files, "texts": texts, "commands": commands}
    path = work / "spec.json"
    path.write_text(json.dumps({**spec, "result": str(work / "result.json")}), encoding="utf-8")
    command = ["timeout", "-k", "2", str(_LIMIT), "unshare", *_NAMESPACES, sys.executable, "-m", __name__, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": "1"}
    with (work / "trace").open("wb") as trace:
        subprocess.run(command, stdout=trace, stderr=subprocess.STDOUT, env=environment, check=False)
    if not (work / "result.json").exists():
        raise RuntimeError((work / "trace").read_text(errors="replace")[-2000:])
    outputs: dict[str, str] = json.loads((work / "result.json").read_text(encoding="utf-8"))
    return outputs


def main(path: str) -> None:
    spec: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    cluster = Cluster(spec)
    outputs = {}
    try:
        cluster.bring_up()
        jobs = cluster.machine.root / HOME.lstrip("/") / "jobs"
        jobs.mkdir()
        for name, text in spec["texts"].items():
            (jobs / name).write_text(text, encoding="utf-8")
        cluster.run(f"chown -R alice: {HOME}/jobs")
        for name, command in spec["commands"].items():
            outputs[name] = cluster.run(f"cd {HOME}/jobs; {command}", user="alice", timeout=600)
            cluster.say(name, outputs[name][-3000:])
    finally:
        cluster.end()
    Path(spec["result"]).write_text(json.dumps(outputs), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
