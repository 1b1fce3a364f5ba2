"""Packages of the machine: which are missing, their installation as root, and the command for an administrator."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from clustergen import child_process
from clustergen.catalogue import system_paths
from clustergen.diagnostics import ClustergenError
from clustergen.verify.namespaces import Lack

_INSTALL = "apt-get install --no-install-recommends"
DEBIAN_KEYS = tuple(f"/usr/share/keyrings/debian-archive-keyring.{form}" for form in ("gpg", "pgp"))
Needs = dict[str, str | tuple[str, ...]]
"""Package → its program, or absolute paths of which one exists."""


def missing(needs: Needs) -> list[str]:
    """The packages that are not installed."""
    return [package for package, marks in needs.items() if not _is_installed(marks)]


def _is_installed(marks: str | tuple[str, ...]) -> bool:
    """`marks`: files by their path, or programs; one of them is enough."""
    for mark in (marks,) if isinstance(marks, str) else marks:
        if Path(mark).exists() if mark.startswith("/") else shutil.which(mark, path=system_paths.PATH):
            return True
    return False


def administrator_command(lacks: Iterable[Lack]) -> str:
    """One line that installs and grants everything; empty where nobody knows how."""
    lacks = list(lacks)
    packages = list(dict.fromkeys(lack.package for lack in lacks if lack.package))
    install = [f"sudo {_INSTALL} {' '.join(packages)}"] if packages else []
    return " && ".join(install + [lack.command for lack in lacks if lack.command])


def refuse(lacks: Sequence[Lack]) -> ClustergenError:
    """The error of a user who cannot install what is missing."""
    command = administrator_command(lacks)
    what = "; ".join(lack.what for lack in lacks)
    hint = f"ask an administrator to run once: {command}" if command else None
    return ClustergenError(f"{what}", hint=hint)


def install(packages: Sequence[str]) -> None:
    """Installs packages as root. Raises ClustergenError with what to do for any other user or package manager."""
    if not shutil.which("apt-get", path=system_paths.PATH):
        raise ClustergenError(
            f"not installed: {', '.join(packages)}", "install them with the package manager of this system"
        )
    if os.geteuid() != 0:
        raise refuse([Lack(f"{package} is not installed", package=package) for package in packages])
    environment = {**os.environ, "PATH": system_paths.PATH, "DEBIAN_FRONTEND": "noninteractive"}
    lock = os.open("/var/lib/dpkg", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)  # apt-get of another `clustergen setup` would refuse this one
    try:
        for arguments in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
            command = ["apt-get", "-qq", *arguments]  # not killed: it lets dpkg end, which would leave halves behind
            done = child_process.run_limited(
                command, 900, is_killed=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
            )
            if done.returncode:
                lines = [line for line in done.stderr.splitlines() if line.startswith("E:")] or done.stderr.splitlines()
                reason = lines[0] if lines else f"apt-get {arguments[0]} ended with status {done.returncode}"
                raise ClustergenError(f"apt-get could not install {' '.join(packages)}: {reason}")
    finally:
        os.close(lock)
