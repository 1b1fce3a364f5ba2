"""The names that releases of NCCL read, taken from NVIDIA's wheels; the library of hundreds of MiB is not kept."""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from clustergen.diagnostics import ClustergenError
from clustergen.features.nccl.library import DIRECTORY, read_library
from clustergen.verify.slurm_roots import parsers_directory
from clustergen.verify.wheels import run_pip

RELEASES = ("2.20", "2.23", "2.27")
"""Releases of the example clusters."""
_LIBRARY = "nvidia/nccl/lib/libnccl.so.2"


def set_up(report: Callable[[str, str], None]) -> None:
    """Extract the names that NCCL reads from its wheels on PyPI.

    The check of nccl.conf needs them. Downloads some hundred MB per release and keeps a list of a few KB.
    """
    directory = parsers_directory() / DIRECTORY
    directory.mkdir(parents=True, exist_ok=True)
    for release in RELEASES:
        if next(directory.glob(f"{release}.*.names"), None):
            report("nccl", f"{release}: ready")
            continue
        report("nccl", f"{release}: downloading")
        with tempfile.TemporaryDirectory(dir=directory) as work:
            names = _names(release, Path(work))
            target = directory / names.name
            names.rename(target)
        report("nccl", f"{target.stem}: {len(target.read_text(encoding='ascii').split())} names")


def _names(release: str, work: Path) -> Path:
    """A file `VERSION.names` in `work`, a name on a line."""
    options = ["download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(work)]
    run_pip(f"nccl {release}", [*options, f"nvidia-nccl-cu12=={release}.*"])
    wheel = next(work.glob("*.whl"), None)
    if wheel is None:
        raise ClustergenError(f"nccl {release} could not be downloaded: pip wrote no wheel")
    with zipfile.ZipFile(wheel) as archive:
        library = Path(archive.extract(_LIBRARY, work))
    match = re.match(r"nvidia_nccl_cu12-([\d.]+)", wheel.name)
    path = work / f"{match[1] if match else release}.names"
    path.write_text("".join(f"{name}\n" for name in sorted(read_library(library).names)), encoding="ascii")
    return path
