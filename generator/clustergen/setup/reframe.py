"""ReFrame, which reads the acceptance/ of a tree: its wheels from PyPI, unpacked in a directory of their own."""

from __future__ import annotations

from pathlib import Path

from clustergen.catalogue.operating_systems import X86_64
from clustergen.setup.parsers import Report
from clustergen.verify.reframe import VERSION, reframe_directory
from clustergen.verify.wheels import run_pip, unpack


def set_up(report: Report) -> None:
    """Unpacks ReFrame where it is missing. Raises ClustergenError where its wheels cannot be had."""
    arguments = ["--no-compile", f"ReFrame-HPC=={VERSION}"]
    unpack(f"reframe {VERSION}", reframe_directory(), arguments, lambda state: report("reframe", f"{VERSION}: {state}"))


def download(directory: Path, python: str, arch: str = X86_64) -> None:
    """Writes the wheels of ReFrame for a release of Python (`3.13`) and an architecture, for nodes without an index.

    Raises ClustergenError where one cannot be had.
    """
    platforms = [f"manylinux_2_{minor}_{arch}" for minor in (28, 27, 26, 24, 17)] + [f"manylinux2014_{arch}"]
    options = [word for name in platforms for word in ("--platform", name)]
    options += ["--quiet", "--only-binary", ":all:", "--python-version", python, "--dest", str(directory)]
    run_pip(f"reframe {VERSION}", ["download", *options, f"ReFrame-HPC=={VERSION}"])
