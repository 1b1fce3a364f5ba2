"""pip, as a process: the packages that it fetches are data for us, and part of no environment."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from clustergen import child_process
from clustergen.diagnostics import ClustergenError
from clustergen.verify.slurm_roots import parsers_directory

_SECONDS = 300


def pip_command(subject: str) -> list[str]:
    """pip of this environment, else the machine's; not every environment has one. `subject` is what it is for."""
    for python in (sys.executable, shutil.which("python3")):
        command = [python or "", "-m", "pip"]
        if python and not subprocess.run([*command, "--version"], capture_output=True, check=False).returncode:
            return command
    raise ClustergenError(f"{subject}: no Python with pip is installed", hint="apt-get install python3-pip")


def run_pip(subject: str, arguments: Sequence[str]) -> None:
    """Runs pip for at most five minutes. Raises ClustergenError with its last line."""
    command = [*pip_command(subject), *arguments]
    done = child_process.run_limited(command, _SECONDS, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"pip ended with status {done.returncode}"])[-1]
        raise ClustergenError(f"{subject} could not be downloaded: {reason}")


def packages_directory(name: str, version: str, python: str | None = sys.implementation.cache_tag) -> Path:
    """Where `unpack` puts packages, some of which are compiled for one release of Python: `cpython-311`."""
    return parsers_directory() / f"{name}-{version}-{python}"


def unpack(subject: str, directory: Path, arguments: Sequence[str], report: Callable[[str], None]) -> None:
    """Unpack packages of pip in a directory of their own, where it is missing. ClustergenError if pip fails."""
    if directory.is_dir():
        report("ready")
        return
    report("downloading")
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory.parent) as work:
        target = Path(work) / "packages"
        run_pip(subject, ["install", "--quiet", "--only-binary", ":all:", "--target", str(target), *arguments])
        shutil.rmtree(directory, ignore_errors=True)
        target.rename(directory)
    report("unpacked")
