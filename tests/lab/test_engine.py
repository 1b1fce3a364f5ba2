"""The error on a machine without a usable container engine, and the choice between two."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clustergen.catalogue import system_paths
from clustergen.diagnostics import ClustergenError
from clustergen.lab import engine as engines

OLD = "echo podman version 3.4.4"
SILENT = "echo 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock.' >&2; exit 1"
ANSWERS = "echo 1.41"


def engine_of(
    place: Path, monkeypatch: pytest.MonkeyPatch, choice: str | None = None, **programs: str
) -> engines.Engine:
    """The engine of a machine that has these programs alone."""
    for name, script in programs.items():
        (place / name).write_text(f"#!/bin/sh\n{script}\n")
        (place / name).chmod(0o755)
    monkeypatch.setattr(system_paths, "PATH", str(place))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return engines.find(choice, place / "store")


@pytest.mark.parametrize(
    ("programs", "words", "hint"),
    [
        ({}, "neither podman nor docker is installed", "clustergen setup lab"),
        ({"podman": OLD}, "podman 3.4.4 is too old: the lab requires 4.0 or newer", "docker"),
        ({"podman": "echo podman version 5.4.2"}, "podman lacks conmon, iptables, nftables, runc", "apt-get install"),
        ({"docker": SILENT}, "cannot use the docker daemon: Cannot connect to the Docker daemon", "start docker"),
    ],
)
def test_missing_things_are_reported(
    programs: dict[str, str], words: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ClustergenError) as answer:
        engine_of(tmp_path, monkeypatch, **programs)
    assert words in answer.value.message
    assert hint in (answer.value.hint or "")
    assert not (tmp_path / "store").exists()


def test_docker_is_taken_where_podman_is_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of(tmp_path, monkeypatch, podman=OLD, docker=ANSWERS)
    assert (engine.name, engine.sets_mac) == ("docker", False)


def test_messages_name_the_requested_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ClustergenError, match="docker is not installed"):
        engine_of(tmp_path, monkeypatch, "docker", podman=OLD)


def test_only_root_starts_a_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ClustergenError, match="requires root"):
        engines.find(None, tmp_path)
