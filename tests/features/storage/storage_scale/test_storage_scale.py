"""IBM Storage Scale: its daemon mounts it, Slurm waits for the mount, and manual steps are listed."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from strategies.trees import codes_of, manifest, tree_of

SCALE = {"type": "storage_scale", "mount": "/mnt/projects", "filesystem": "projects", "contacts": ["10.0.0.70"]}
UNITS = "etc/systemd/system"


def stored(directory: Path, **changes: Any) -> Any:
    return tree_of(manifest(storage={"work": {**SCALE, **changes}}), directory)


def text_of(tree: Any, path: str) -> str:
    return str(tree.files[path].content.decode())


def command(text: str) -> list[str]:
    """The command that systemd runs for ExecStart."""
    (line,) = (line for line in text.splitlines() if line.startswith("ExecStart="))
    return [word.replace("$$", "$") for word in shlex.split(line.removeprefix("ExecStart="))]


def program(directory: Path, name: str, body: str) -> None:
    directory.mkdir(exist_ok=True)
    (directory / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    (directory / name).chmod(0o755)


def started(words: list[str], programs: Path) -> subprocess.CompletedProcess[str]:
    path = f"{programs}:{os.environ['PATH']}"
    return subprocess.run(words, env={"PATH": path}, capture_output=True, text=True, timeout=300, check=False)


def test_slurmd_waits_for_the_daemon_to_mount_it(tmp_path: Path) -> None:
    tree = stored(tmp_path)
    assert not [path for path in tree.files if path.endswith(".mount")]
    waits = text_of(tree, f"overlays/mount_work/{UNITS}/slurmd.service.d/40-mount-work.conf")
    assert "PartOf=clustergen-storage-scale-work.service" in waits
    assert ".mount" not in waits
    assert "clustergen-storage-scale-work.service" in text_of(tree, "inventory/group_vars/all.yml")


def test_a_percent_sign_in_the_mount_point_is_none_of_systemds_specifiers(tmp_path: Path) -> None:
    tree = stored(tmp_path, mount="/mnt/projects%h")
    lines = text_of(tree, f"overlays/mount_work/{UNITS}/clustergen-storage-scale-work.service").splitlines()
    assert [line.endswith("/mnt/projects%%h") for line in lines if "/mnt" in line] == [True, True]


def test_the_unit_ends_as_soon_as_the_file_system_is_mounted(tmp_path: Path) -> None:
    words = command(text_of(stored(tmp_path), f"overlays/mount_work/{UNITS}/clustergen-storage-scale-work.service"))
    asked, programs = tmp_path / "asked", tmp_path / "bin"
    program(programs, "findmnt", f'printf "%s|" "$@" >>{asked}; echo >>{asked}; [ "$(wc -l <{asked})" -gt 1 ]')
    program(programs, "sleep", "exit 0")
    assert started(words, programs).returncode == 0
    assert asked.read_text(encoding="utf-8").splitlines() == ["--types|gpfs|--mountpoint|/mnt/projects|"] * 2


@pytest.mark.parametrize("has_module", [True, False])
def test_the_module_is_built_only_for_a_kernel_that_lacks_it(has_module: bool, tmp_path: Path) -> None:
    unit = f"overlays/storage_scale_client/{UNITS}/clustergen-storage-scale-module.service"
    programs = tmp_path / "bin"
    builds = str(programs / "mmbuildgpl")
    words = [word.replace("/usr/lpp/mmfs/bin/mmbuildgpl", builds) for word in command(text_of(stored(tmp_path), unit))]
    assert builds in words[-1]
    program(programs, "modinfo", f'[ "$*" = "-n mmfs26" ] && exit {0 if has_module else 1}')
    program(programs, "mmbuildgpl", "echo built; exit 3")
    result = started(words, programs)
    assert (result.returncode, result.stdout) == ((0, "") if has_module else (3, "built\n"))


def test_options_of_the_manifest_take_the_place_of_ours(tmp_path: Path) -> None:
    options = text_of(
        stored(tmp_path, read_only=True, options=["suid", "noatime"]),
        "overlays/mount_work/var/mmfs/etc/localMountOptions.projects",
    )
    assert options == "nodev,ro,suid,noatime\n"


@pytest.mark.parametrize(
    ("remote", "step", "other"),
    [(False, "mmaddnode", "mmremotefs"), (True, "mmremotefs add projects", "mmchfs")],
)
def test_manual_steps_are_listed(remote: bool, step: str, other: str, tmp_path: Path) -> None:
    page = text_of(stored(tmp_path, remote=remote), "README.md").partition("## Manual steps")[2].partition("\n## ")[0]
    assert step in page
    assert other not in page
    assert "mmchlicense" in page


def test_clients_need_an_address_where_the_storage_cluster_is(tmp_path: Path) -> None:
    networks = {
        "management": {"cidr": "10.0.0.0/24", "domain": "cluster.local"},
        "storage": {"cidr": "10.2.0.0/24"},
    }
    far = {**SCALE, "contacts": ["10.2.0.70"]}
    assert "storage-unreachable" in codes_of(manifest(networks=networks, storage={"work": far}), tmp_path)
    assert "storage-unreachable" not in codes_of(manifest(networks=networks, storage={"work": SCALE}), tmp_path)
    either = {**SCALE, "contacts": ["10.2.0.70", "10.0.0.70"]}
    assert "storage-unreachable" not in codes_of(manifest(networks=networks, storage={"work": either}), tmp_path)
