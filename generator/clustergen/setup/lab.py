"""Installs what `clustergen lab` requires on Debian and Ubuntu; no setting of podman or docker is changed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clustergen.catalogue import system_paths
from clustergen.lab.namespace import hybrid
from clustergen.setup import packages

_PODMAN: packages.Needs = {
    "podman": "podman",
    "conmon": "conmon",
    "runc": "runc",
    "netavark": ("/usr/lib/podman/netavark", "/usr/libexec/podman/netavark"),
    "iptables": "iptables",
    "nftables": "nft",
}
_DOCKER: packages.Needs = {"docker.io": "docker"}
_COMMON: packages.Needs = {
    "iproute2": "ip",
    "util-linux": "nsenter",
    "openssh-client": "ssh",
    "mmdebstrap": "mmdebstrap",
    "arch-test": "arch-test",
    "debian-archive-keyring": packages.DEBIAN_KEYS,
}
_DOCKER_UNITS = ("docker.service", "docker.socket", "containerd.service")


def lacking(*, docker: bool) -> list[str]:
    """The packages that are missing. `docker`: docker beside podman, too."""
    # podman 3 gives nodes no addresses: where the distribution has no newer one, docker runs them.
    needs = {**(_DOCKER if _podman_release().startswith("3.") else _PODMAN), **_COMMON}
    if docker:
        needs["docker.io"] = "dockerd"
    if hybrid():  # slurmd needs a small library, which is compiled here
        needs |= {"gcc": "cc", "libc6-dev": "/usr/include/stdlib.h"}
    return packages.missing(needs)


def set_up(*, docker: bool) -> list[str]:
    """Installs them and returns their names. Raises ClustergenError with the command for an administrator."""
    names = lacking(docker=docker)
    if names:
        with _no_daemon() if docker and "docker.io" in names else _nothing():
            packages.install(names)
    return names


def _podman_release() -> str:
    """The installed release of podman, else the one that apt would install; empty where there is none."""
    if program := shutil.which("podman", path=system_paths.PATH):
        return _answer(program, "--version").rpartition(" ")[2]
    if not shutil.which("apt-cache", path=system_paths.PATH):
        return ""
    lines = _answer("apt-cache", "policy", "podman").splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if "Candidate:" in line), "")


def _answer(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout.strip()


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _no_daemon() -> Iterator[None]:
    """Keeps docker's daemon, which would change the machine's firewall, from being started or enabled."""
    if os.geteuid() != 0 or not Path("/run/systemd/system").is_dir():
        yield
        return
    subprocess.run(["systemctl", "mask", "--runtime", "--quiet", *_DOCKER_UNITS], check=True)
    try:
        yield
    finally:
        subprocess.run(["systemctl", "unmask", "--runtime", "--quiet", *_DOCKER_UNITS], check=False)
        subprocess.run(["systemctl", "disable", "--quiet", *_DOCKER_UNITS], check=False)
