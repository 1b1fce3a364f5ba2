"""Finding Slurm installations, and asking one for a host list."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen import hostlist
from clustergen.verify import sandbox, slurm_roots
from clustergen.verify.slurm_roots import SlurmInstall


def make_root(directory: Path, version: str | None) -> Path:
    (directory / "usr/sbin").mkdir(parents=True)
    (directory / "usr/sbin/slurmctld").touch()
    if version:
        (directory / "var/lib/clustergen").mkdir(parents=True)
        (directory / "var/lib/clustergen/slurm-version").write_text(f"{version}\n", encoding="utf-8")
    return directory


@pytest.fixture
def parsers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLUSTERGEN_PARSERS", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    return tmp_path


def test_the_directory_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CLUSTERGEN_PARSERS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert slurm_roots.parsers_directory() == tmp_path / "clustergen/parsers"
    monkeypatch.setenv("CLUSTERGEN_PARSERS", "/srv/parsers")
    assert slurm_roots.parsers_directory() == Path("/srv/parsers")


def test_roots_are_found_newest_first_and_unfinished_ones_are_not(parsers: Path) -> None:
    make_root(parsers / "old", "22.05.8")
    make_root(parsers / "new", "24.11.5")
    make_root(parsers / "image-0123", "23.11.4")
    make_root(parsers / ".half.new", "26.05.5")
    (parsers / "notes").mkdir()
    assert [(one.release, one.version, one.kind, one.path.name) for one in slurm_roots.installs()] == [
        ("24.11", "24.11.5", "root", "new"),
        ("23.11", "23.11.4", "image", "image-0123"),
        ("22.05", "22.05.8", "root", "old"),
    ]


def test_only_the_very_release_will_do(parsers: Path) -> None:
    make_root(parsers / "new", "24.11.5")
    assert slurm_roots.for_release("24.11") == SlurmInstall("24.11", "24.11.5", "root", parsers / "new")
    assert slurm_roots.for_release("24.05") is None


def test_a_program_is_looked_for_in_every_root(parsers: Path) -> None:
    make_root(parsers / "a", "24.11.5")
    root = make_root(parsers / "b", None)
    (root / "usr/sbin/chronyd").symlink_to("/only/inside/chronyd")
    assert slurm_roots.root_with("chronyd") == root
    assert slurm_roots.root_with("promtool") is None


def test_an_image_needs_an_engine(parsers: Path) -> None:
    with pytest.raises(sandbox.SandboxError, match="neither podman nor docker"):
        slurm_roots.from_image("example/slurm")


def test_an_image_that_is_absent_can_be_pulled(parsers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = tmp_path / "bin/podman"
    engine.parent.mkdir()
    engine.write_text("#!/bin/sh\nexit 125\n")
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", str(engine.parent))
    with pytest.raises(sandbox.SandboxError, match=r"not on this machine: run podman pull example/slurm$"):
        slurm_roots.from_image("example/slurm")


@pytest.mark.real
def test_a_root_says_its_own_version(slurm: SlurmInstall) -> None:
    result = sandbox.run(sandbox.Sandbox(slurm.path), ["slurmctld", "-V"], timeout=300)
    assert result.stdout.split()[-1] == slurm.version
    assert slurm.version.startswith(f"{slurm.release}.")


@pytest.mark.real
@pytest.mark.parametrize("hosts", ["c[01-03,7],g[1-2]", "gpu-a[099-101]", "r[1-2]n[1-2]"])
def test_slurm_expands_host_lists_as_we_do(slurm: SlurmInstall, hosts: str) -> None:
    assert slurm_roots.expand(slurm, hosts) == hostlist.expand(hosts)


@pytest.mark.real
def test_a_list_of_which_slurm_makes_nothing_is_an_error(current_slurm: SlurmInstall) -> None:
    with pytest.raises(ValueError, match=r"expands 'c\[3-1\]' to no host"):
        slurm_roots.expand(current_slurm, "c[3-1]")
