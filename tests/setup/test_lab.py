"""`clustergen setup lab` lists the packages that this machine lacks, and docker where podman is too old."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clustergen.catalogue import system_paths
from clustergen.diagnostics import ClustergenError
from clustergen.setup import lab


def machine(place: Path, monkeypatch: pytest.MonkeyPatch, **programs: str) -> None:
    """A machine with these programs alone."""
    for name, script in {"stat": "echo cgroup2fs", **programs}.items():
        (place / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (place / name).chmod(0o755)
    monkeypatch.setattr(system_paths, "PATH", str(place))
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")


@pytest.mark.parametrize(
    ("programs", "docker", "expected", "unwanted"),
    [
        ({}, False, {"podman", "runc", "iproute2", "mmdebstrap"}, {"docker.io", "gcc"}),
        ({"podman": "echo podman version 5.4.2"}, False, {"conmon", "nftables"}, {"podman", "docker.io"}),
        ({"podman": "echo podman version 3.4.4"}, False, {"docker.io"}, {"conmon", "runc"}),
        ({"apt-cache": "echo '  Candidate: 3.4.4+ds1'"}, False, {"docker.io"}, {"podman"}),
        ({"podman": "echo podman version 5.4.2"}, True, {"docker.io", "conmon"}, {"podman"}),
        ({"dockerd": "true", "docker": "true"}, True, {"podman"}, {"docker.io"}),
        ({"stat": "echo tmpfs"}, False, {"gcc"}, set()),
    ],
)
def test_missing_packages_are_requested(
    programs: dict[str, str],
    docker: bool,
    expected: set[str],
    unwanted: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine(tmp_path, monkeypatch, **programs)
    names = set(lab.lacking(docker=docker))
    assert expected <= names
    assert not unwanted & names


@pytest.mark.parametrize(
    ("programs", "hint"),
    [
        ({"apt-get": "exit 1"}, "sudo apt-get install --no-install-recommends podman "),
        ({}, "install them with the package manager of this system"),
    ],
)
def test_the_message_names_the_packages_to_install(
    programs: dict[str, str], hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(tmp_path, monkeypatch, **programs)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ClustergenError) as error:
        lab.set_up(docker=False)
    assert hint in (error.value.hint or "")


def test_apts_first_error_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apt = "echo 'E: Unable to locate package podman' >&2; exit 100"
    machine(tmp_path, monkeypatch, **{"apt-get": apt, "timeout": 'shift; exec "$@"'})
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(ClustergenError, match=r"could not install podman.*: E: Unable to locate package podman"):
        lab.set_up(docker=False)
