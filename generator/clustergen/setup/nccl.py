"""The names that releases of NCCL read, taken from NVIDIA's wheels; the library of hundreds of MiB is not kept."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from clustergen.diagnostics import ClustergenError
from clustergen.setup.parsers import Report
from clustergen.verify.libnccl import FOLDER, read_library
from clustergen.verify.slurm_roots import parsers_folder

RELEASES = ("2.20", "2.23", "2.27")
"""Those of the example clusters."""
_LIBRARY = "nvidia/nccl/lib/libnccl.so.2"


def set_up(report: Report) -> None:
    """Writes a list of names per release that has none yet. Raises ClustergenError where a wheel cannot be had."""
    folder = parsers_folder() / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for release in RELEASES:
        if next(folder.glob(f"{release}.*.names"), None):
            report("nccl", f"{release}: ready")
            continue
        report("nccl", f"{release}: downloading")
        with tempfile.TemporaryDirectory(dir=folder) as work:
            names = _names(release, Path(work))
            target = folder / names.name
            names.rename(target)
        report("nccl", f"{target.stem}: {len(target.read_text(encoding='ascii').split())} names")


def _pip() -> list[str]:
    """pip of this environment, else the machine's; not every environment has one."""
    for python in (sys.executable, shutil.which("python3")):
        command = [python or "", "-m", "pip"]
        if python and not subprocess.run([*command, "--version"], capture_output=True, check=False).returncode:
            return command
    raise ClustergenError("nccl: no Python with pip is installed", hint="apt-get install python3-pip")


def _names(release: str, work: Path) -> Path:
    """A file `VERSION.names` in `work`, a name on a line."""
    options = ["download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(work)]
    command = ["timeout", "-k", "5", "300", *_pip(), *options, f"nvidia-nccl-cu12=={release}.*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheel = next(work.glob("*.whl"), None)
    if done.returncode or wheel is None:
        reason = (done.stderr.strip().splitlines() or [f"pip ended with status {done.returncode}"])[-1]
        raise ClustergenError(f"nccl {release} could not be downloaded: {reason}")
    with zipfile.ZipFile(wheel) as archive:
        library = Path(archive.extract(_LIBRARY, work))
    match = re.match(r"nvidia_nccl_cu12-([\d.]+)", wheel.name)
    path = work / f"{match[1] if match else release}.names"
    path.write_text("".join(f"{name}\n" for name in sorted(read_library(library).names)), encoding="ascii")
    return path
