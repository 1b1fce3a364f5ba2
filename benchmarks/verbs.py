"""Every verb on the 64-GPU cluster, beside `validate` of the same manifest."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from timing import CLUSTERGEN, LIMIT_S, ROOT, in_turns, rows_beside

from clustergen.verify.slurm_roots import parsers_directory

MANIFEST = ROOT / "inventories" / "ml-training" / "manifest.yaml"
TREE = MANIFEST.parent / "rendered"
SLURM = TREE / "overlays" / "slurm_node" / "etc" / "slurm"
_I_REFS = re.compile(r"I +refs: +([\d,]+)")


def commands(work: Path) -> dict[str, list[str]]:
    """Verb and argument → command line."""
    changed = work / "changed" / MANIFEST.name
    changed.parent.mkdir(parents=True)
    changed.write_text(MANIFEST.read_text(encoding="utf-8").replace("max_time: 30", "max_time: 40"), encoding="utf-8")
    hand_written = work / "hand-written"
    shutil.copytree(SLURM, hand_written)
    manifest = str(MANIFEST)
    arguments = {
        "validate": ["validate", manifest],
        "render": ["render", manifest, "-o", str(work / "out")],
        "diff": ["diff", manifest, str(changed)],
        "lint slurm.conf": ["lint", str(SLURM / "slurm.conf")],
        "import": ["import", str(hand_written), "--force", "-o", str(work / "imported.yaml")],
        "explain, a line that 18 values change": ["explain", manifest, "/etc/slurm/slurm.conf:39"],
        "explain, a line that no value changes": ["explain", manifest, "/etc/slurm/slurm.conf:80"],
        "explain, all of slurm.conf": ["explain", manifest, "/etc/slurm/slurm.conf"],
    }
    return {name: [*CLUSTERGEN, *words] for name, words in arguments.items()}


def bench_verbs(work: Path, runs: int) -> list[str]:
    """Ratios of CPU seconds; those of `verify` include the programs that read the tree."""
    every = commands(work)
    if parsers_directory().is_dir():
        every["verify"] = [*CLUSTERGEN, "verify", str(TREE)]
    timings = in_turns({name: (command, None) for name, command in every.items()}, runs)
    return rows_beside(timings, "validate", "64 GPUs")


def instructions_table(work: Path) -> list[str]:
    """Instructions of each verb by valgrind's cachegrind: the same on a busy machine."""
    counts = {name: instructions(command) for name, command in commands(work / "instructions").items()}
    lines = [f"| {name} | {count / 1e6:,.0f} | {count / counts['validate']:.2f} |" for name, count in counts.items()]
    return ["", "| verb, 64 GPUs | million instructions | times validate |", "|---|---|---|", *lines]


def instructions(command: list[str]) -> int:
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [*valgrind, *command], capture_output=True, text=True, timeout=LIMIT_S, env=environment, check=False
    )
    match = _I_REFS.search(done.stderr)
    if match is None:
        raise SystemExit(f"valgrind counted nothing: {done.stderr[-2000:]}")
    return int(match[1].replace(",", ""))
