"""A small cluster in two states, for `clustergen diff`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from clustergen.cli import group

COMMAND = [sys.executable, "-m", "clustergen"]
MANIFEST = """\
name: small
os: debian-13
networks:
  management: {cidr: 10.0.0.0/16, domain: cluster.local}
node_types:
  gpu: {system: hgx-h100-8, memory: 1TiB}
nodes:
  - {name: head, type: service, address: 10.0.255.1, roles: [slurm-controller, slurm-accounting]}
  - {name: "c[1-4]", type: gpu, address: "10.0.0.[1-4]"}
slurm:
  version: "24.11"
  build: schedmd
  partitions:
    batch: {nodes: all, default: true}
    debug: {nodes: "c[1-2]", max_time: 30}
"""


LONGER = ("max_time: 30", "max_time: 60")


def diff(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, ["diff", *map(str, arguments)])


def write(directory: Path, *edits: tuple[str, str], text: str = MANIFEST) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    (directory / "manifest.yaml").write_text(text, encoding="utf-8")
    return directory / "manifest.yaml"


def rendered(manifest: Path) -> Path:
    assert CliRunner().invoke(group, ["render", str(manifest)]).exit_code == 0
    return manifest.parent / "rendered"


def git(directory: Path, *words: str) -> None:
    who = {f"GIT_{role}_{what}": "x@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *words], cwd=directory, check=True, timeout=300, env={**os.environ, **who})


def error_of(old: str, where: Path) -> str:
    """The error for a side that cannot be read, from the working directory `where`."""
    done = subprocess.run(
        [*COMMAND, "diff", old, "."], capture_output=True, text=True, timeout=300, check=False, cwd=where
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "Traceback" not in done.stderr
    return done.stderr
