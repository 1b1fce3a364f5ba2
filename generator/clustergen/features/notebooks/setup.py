"""JupyterHub, which loads its settings in `verify`: its wheels from PyPI, unpacked in a directory of their own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from clustergen.features.notebooks.hub import hub_directory, pins, version
from clustergen.verify.wheels import run_pip


def set_up(report: Callable[[str, str], None]) -> None:
    """Unpack JupyterHub and batchspawner from PyPI.

    The check of jupyterhub_config.py needs them: some 140 MB, without the proxy and without JupyterLab.
    """
    directory = hub_directory()
    if directory.is_dir():
        report("notebooks", f"JupyterHub {version()}: ready")
        return
    report("notebooks", f"JupyterHub {version()}: downloading")
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory.parent) as work:
        target = Path(work) / "packages"
        options = ["--quiet", "--only-binary", ":all:", "--target", str(target)]
        run_pip("JupyterHub", ["install", *options, "--constraint", str(pins()), "jupyterhub", "batchspawner"])
        shutil.rmtree(directory, ignore_errors=True)
        target.rename(directory)
    report("notebooks", f"JupyterHub {version()}: unpacked")
