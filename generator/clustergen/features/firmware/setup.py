"""sushy-tools, an emulator of BMCs for the tests of the playbook `firmware`: unpacked in a directory of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from clustergen.verify.wheels import packages_directory, unpack

VERSION = "2.2.0"


def emulator_directory() -> Path:
    return packages_directory("sushy-tools", VERSION)


def set_up(report: Callable[[str, str], None]) -> None:
    """Unpack sushy-tools, an emulator of BMCs, from PyPI."""
    arguments = [f"sushy-tools=={VERSION}"]
    unpack("sushy-tools", emulator_directory(), arguments, lambda state: report("firmware", f"{VERSION}: {state}"))
