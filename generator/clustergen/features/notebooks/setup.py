"""JupyterHub, which loads its settings in `verify`: its wheels from PyPI, unpacked in a directory of their own."""

from __future__ import annotations

from collections.abc import Callable

from clustergen.features.notebooks.hub import hub_directory, pins, version
from clustergen.verify.wheels import unpack


def set_up(report: Callable[[str, str], None]) -> None:
    """Unpack JupyterHub and batchspawner from PyPI.

    The check of jupyterhub_config.py needs them: some 140 MB, without the proxy and without JupyterLab.
    """
    arguments = ["--constraint", str(pins()), "jupyterhub", "batchspawner"]
    hub = f"JupyterHub {version()}"
    unpack("JupyterHub", hub_directory(), arguments, lambda state: report("notebooks", f"{hub}: {state}"))
