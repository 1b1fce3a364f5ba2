"""Runs job scripts of the guide for users with stand-ins for the programs that they start."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

SERVERS = {
    "dask": "dask",
    "ray": "ray",
    "jupyter": "jupyter",
    "vllm": "vllm",
    "vllm-nodes": "vllm",
    "vllm-replicas": "vllm",
    "triton": "tritonserver",
    "triton-replicas": "tritonserver",
}
TOOLS = ("awk", "base64", "cat", "head", "mkdir", "mktemp", "openssl", "paste", "realpath", "rm", "sed", "tail", "tr")
JOB = {
    "SLURM_JOB_ID": "4711",
    "SLURM_JOB_NODELIST": "localhost",
    "SLURM_NNODES": "2",
    "SLURM_CPUS_PER_TASK": "16",
    "SLURM_NODEID": "0",
    "SLURM_NTASKS_PER_NODE": "8",
    "SLURM_PROCID": "0",
    "SLURMD_NODENAME": "localhost",
    "USER": "ada",
}
# A server: keeps what it can see of the job's files, with their modes, and what is in them.
SERVER = """
[[ $* != *get-auth-token* || -z $OLD ]] || exit 2
find "$HOME" "$RECORD/tmp" -mindepth 1 -printf '%m %y %p\\n' >>"$RECORD/modes"
cat "$HOME"/.*/token "$HOME"/.*/key.pem 2>/dev/null >>"$RECORD/secrets"
env | sort >"$RECORD/environment"
for ((i = 1; i < $#; i++)); do
  next=$((i + 1))
  case ${!i} in
    --scheduler-file) echo '{}' >"${!next}" ;;
    --ssl-certfile) cp "$(dirname "${!next}")"/*.pem "$RECORD" ;;
  esac
done
"""
STEP = """
[[ $1 != profile ]] || shift
while [[ $1 == -* ]]; do shift; done
exec "$@"
"""


def run(script: str, directory: Path, *program: str, **environment: str) -> SimpleNamespace:
    """Runs a job script; `calls` has the command line of every program that it starts."""
    places = {name: directory / name for name in ("bin", "home", "tmp")}
    for place in places.values():
        place.mkdir()
    stand_ins = dict.fromkeys(
        (*SERVERS.values(), "python3", "torchrun", "podman", "accelerate", "apptainer", "rsync"), SERVER
    )
    stand_ins |= {"python3": f"{SERVER}\necho 2 processes, $RATE samples/s", "haproxy": SERVER, "nsys": STEP}
    stand_ins |= {"srun": STEP, "scontrol": "echo localhost", "sleep": "/bin/sleep 0.02"}
    stand_ins |= {name: f'exec {shutil.which(name)} "$@"' for name in TOOLS}
    for name, body in stand_ins.items():
        text = f'#!/bin/bash\necho "{name} $*" >>"$RECORD/calls"\nPATH=$PATH:/usr/bin:/bin\n{body}\n'
        (places["bin"] / name).write_text(text, encoding="utf-8")
        (places["bin"] / name).chmod(0o755)
    (directory / "job.sh").write_text(script, encoding="utf-8")
    variables = {"PATH": str(places["bin"]), "HOME": str(places["home"]), "TMPDIR": str(places["tmp"]), "OLD": ""}
    variables["RATE"] = "100"
    done = subprocess.run(
        ["/bin/bash", str(directory / "job.sh"), *(program or (str(directory),))],
        capture_output=True, text=True, timeout=120, check=False, cwd=directory,
        env={**JOB, **variables, "RECORD": str(directory), **environment},
    )  # fmt: skip

    def record(name: str) -> str:
        return (directory / name).read_text(encoding="utf-8") if (directory / name).exists() else ""

    return SimpleNamespace(
        code=done.returncode, output=done.stdout + done.stderr,
        left=[*places["home"].iterdir(), *places["tmp"].iterdir()],
        calls=record("calls"), modes=record("modes"), secrets=record("secrets"), environment=record("environment"),
    )  # fmt: skip
