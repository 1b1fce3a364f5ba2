"""Which image of this machine another one starts from, and when Debian is built anew."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from clustergen.catalogue.operating_systems import operating_systems
from clustergen.diagnostics import ClustergenError
from clustergen.lab import images
from clustergen.lab.engine import Engine
from clustergen.lab.related_images import LABEL

SYSTEM = operating_systems()["debian-13"]


class Store:
    """podman's images as name → label; each command that makes one is recorded."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.labels: dict[str, str] = {}
        self.made: list[str] = []
        self.mirror_is_reached = True
        monkeypatch.setattr(Engine, "run", self.run)
        monkeypatch.setattr(images, "_make", self.debian)
        monkeypatch.setattr(images, "_room", lambda _: None)
        self.engine = Engine("podman", "/bin/false", directory, hybrid=False)

    def run(self, command: str, *words: str, check: bool = True, **_: Any) -> subprocess.CompletedProcess[str]:
        output, status = "", 0
        if command == "image" and "--format" in words:
            output = "".join(f"{self.labels[name]}\n" for name in words[3:])
        elif command == "image":
            status = words[-1] not in self.labels
        elif command == "images":
            output = "".join(f"{name}\n" for name in self.labels)
        elif command == "tag":
            self.labels[words[1]] = self.labels[words[0]]
            self.made.append("tag")
        elif command == "run":
            base = words[words.index("--network") + 2]
            if "host" in words and not self.mirror_is_reached:
                raise ClustergenError("podman run failed")
            self.made.append(f"run {self.labels[base].partition(':')[2]}")
        elif command == "commit":
            self.labels[words[-1]] = words[1].removeprefix(f"LABEL {LABEL}=")
        return subprocess.CompletedProcess(command, status, output, "")

    def debian(self, engine: Engine, system: Any, packages: list[str], name: str, report: Any) -> None:
        self.labels[name] = images._content(system, packages).options[1].removeprefix(f"LABEL {LABEL}=")
        self.made.append("debian")

    def ensure(self, packages: str, common: str = "", *, installed: bool = False) -> list[str]:
        """Build the image; `common` are packages of most clusters."""
        self.made.clear()
        names = packages.split(), common.split() or packages.split()
        images.ensure(self.engine, SYSTEM, *names, lambda _: None, installed=installed)
        return list(self.made)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    return Store(tmp_path, monkeypatch)


def test_a_bare_image_starts_from_the_one_that_lacks_least(store: Store) -> None:
    assert store.ensure("munge") == ["debian"]
    assert store.ensure("chrony munge slurmd") == ["run munge"]
    assert store.ensure("chrony munge slurmd slurmctld") == ["run chrony,munge,slurmd"]
    assert store.ensure("munge slurmd") == ["tag"]  # downloads that nobody installs change nothing
    assert store.ensure("munge slurmd") == []
    assert store.ensure("prometheus") == ["debian"]


def test_an_installed_image_has_no_package_that_is_not_asked_for(store: Store) -> None:
    assert store.ensure("chrony munge slurmd", installed=True) == ["debian", "run chrony,munge,slurmd"]
    assert store.ensure("chrony munge", installed=True) == ["tag", "run chrony,munge,slurmd"]
    assert store.ensure("chrony munge nftables slurmd", installed=True) == ["run chrony,munge,slurmd"]


def test_clusters_share_the_installation_of_what_most_have(store: Store) -> None:
    common = "chrony munge"
    assert store.ensure("chrony fio munge", common, installed=True) == [
        "debian", "run chrony,fio,munge", "run chrony,munge",
    ]  # fmt: skip
    assert store.ensure("chrony munge nftables", common, installed=True) == ["run chrony,munge"]
    assert store.ensure("chrony munge", common, installed=True) == []


def test_debian_is_built_where_the_mirror_lacks_what_the_image_builds_on(store: Store) -> None:
    store.ensure("munge")
    store.mirror_is_reached = False
    assert store.ensure("chrony munge") == ["debian"]


def test_images_of_another_recipe_are_not_used(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.ensure("munge")
    store.labels["localhost/own:latest"] = next(iter(store.labels.values())).replace("munge", "munge,chrony")
    assert store.ensure("chrony munge") != ["tag"]
    monkeypatch.setattr(images, "_BARE", "systemd")
    assert store.ensure("chrony munge slurmd") == ["debian"]
