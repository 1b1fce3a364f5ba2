"""sushy-tools, an emulator of BMCs for the tests of the playbook `firmware`: unpacked in a directory of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from clustergen.verify.slurm_roots import parsers_directory
from clustergen.verify.wheels import unpack

VERSION = "2.2.0"


def emulator_directory(python: str | None = sys.implementation.cache_tag) -> Path:
    """Its packages, some of which are compiled for one release of Python: `cpython-311`."""
    return parsers_directory() / f"sushy-tools-{VERSION}-{python}"


def set_up(report: Callable[[str, str], None]) -> None:
    """Unpack sushy-tools, an emulator of BMCs, from PyPI."""
    arguments = [f"sushy-tools=={VERSION}"]
    unpack("sushy-tools", emulator_directory(), arguments, lambda state: report("firmware", f"{VERSION}: {state}"))
