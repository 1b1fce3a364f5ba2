"""The cache of NFS files: only nodes with a disk for it have it, and the program shows what keeps it from working."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from strategies.trees import COMPUTE, GPU, HEAD, codes_of, manifest, node_files, runnable, text_of, tree_of

CACHE = {"device": "sda", "size": "4TB", "use": "cache"}
DATA = {"type": "nfs", "server": "10.0.0.9", "path": "/export/data", "mount": "/data"}
OTHERS = {"name": "d[1-2]", "type": "plain", "address": "10.0.0.[21-22]"}
NODES = [HEAD, COMPUTE, OTHERS]


def cached(**changes: Any) -> dict[str, Any]:
    types = {"gpu": {**GPU, "disks": [CACHE]}, "plain": GPU}
    return manifest(**{"nodes": NODES, "node_types": types, "storage": {"data": DATA}, **changes})


def test_nodes_with_a_disk_for_it_cache_nfs_and_others_do_not(tmp_path: Path) -> None:
    tree = tree_of(cached(), tmp_path)
    mount = text_of(tree, "c1", "/etc/systemd/system/data.mount")
    assert ",fsc," in mount
    assert "cachefilesd.service" in next(line for line in mount.splitlines() if line.startswith("After="))
    assert "fsc" not in text_of(tree, "d1", "/etc/systemd/system/data.mount")
    assert not [path for path in node_files(tree, "d1") if "cache" in path]
    assert "What=/dev/disk/by-label/fscache" in text_of(tree, "c1", "/etc/systemd/system/var-cache-fscache.mount")


def test_a_mount_can_be_left_out_and_the_label_of_selinux_is_there_where_it_is_needed(tmp_path: Path) -> None:
    storage = {"data": {**DATA, "options": ["nofsc"]}, "more": {**DATA, "mount": "/more"}}
    tree = tree_of(cached(os="rocky-9", storage=storage, host={"file_cache": {"brun": 20, "bcull": 15}}), tmp_path)
    assert ",fsc," not in text_of(tree, "c1", "/etc/systemd/system/data.mount")
    assert ",fsc," in text_of(tree, "c1", "/etc/systemd/system/more.mount")
    settings = text_of(tree, "c1", "/etc/cachefilesd.conf").splitlines()
    assert {"brun 20%", "fcull 15%", "bstop 3%", "secctx system_u:system_r:cachefiles_kernel_t:s0"} <= {*settings}
    unit = text_of(tree, "c1", "/etc/systemd/system/cachefilesd.service")
    assert "ExecStartPre=-/usr/sbin/restorecon /var/cache/fscache\n" in unit
    assert "restorecon" not in text_of(tree_of(cached(), tmp_path), "c1", "/etc/systemd/system/cachefilesd.service")


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({}, []),
        ({"storage": {}}, ["file-cache-idle"]),
        ({"storage": {"data": {**DATA, "options": ["nofsc"]}}}, ["file-cache-idle"]),
        ({"node_types": {"gpu": GPU, "plain": GPU}, "host": {"file_cache": {}}}, ["file-cache-idle"]),
        ({"host": {"file_cache": {"bcull": 10}}}, ["file-cache-limits"]),
        ({"host": {"file_cache": {"device": "/dev/sdb1"}}}, ["device-name-unstable"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, (dict, list)) else None,
)
def test_a_cache_that_cannot_work_is_named(changes: dict[str, Any], codes: list[str], tmp_path: Path) -> None:
    assert codes_of(cached(**changes), tmp_path) == codes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mounts", "state", "is_loaded", "lines", "status"),
    [
        (
            "/dev/sda @CACHE@ xfs rw 0 0\nfiler:/data /data nfs4 rw,fsc,hard 0 0\n",
            "active",
            True,
            ["in order", "cachefilesd: active", "/data: cached", "kernel: IO rd=7 wr=9"],
            0,
        ),
        ("filer:/data /data nfs4 rw,fsc 0 0\n", "active", True, ["disk: not mounted at"], 1),
        (
            "/dev/sda @CACHE@ xfs rw 0 0\nfiler:/d /d nfs rw 0 0\n",
            "active",
            True,
            ["/d: not cached", "no NFS mount"],
            1,
        ),
        (
            "/dev/sda @CACHE@ xfs rw 0 0\nfiler:/d /d nfs fsc 0 0\n",
            "failed",
            False,
            ["cachefilesd: failed", "fscache"],
            1,
        ),
    ],
    ids=["works", "no-disk", "no-mount", "no-daemon"],
)
def test_the_program_names_what_keeps_files_from_being_cached(
    mounts: str, state: str, is_loaded: bool, lines: list[str], status: int, tmp_path: Path
) -> None:
    cache, proc, programs = (tmp_path / name for name in ("cache", "proc", "bin"))
    for directory in (cache, proc / "self", proc / "fs/fscache", programs):
        directory.mkdir(parents=True)
    (proc / "self/mounts").write_text(mounts.replace("@CACHE@", str(cache)), encoding="utf-8")
    if is_loaded:
        text = "Cookies: n=3 v=1\nIO     : rd=7 wr=9\nRdHelp : RA=1\n"
        (proc / "fs/fscache/stats").write_text(text, encoding="utf-8")
    (programs / "systemctl").write_text(f"#!/bin/sh\necho {state}\n", encoding="utf-8")
    (programs / "systemctl").chmod(0o755)
    changes = {"/proc": proc, "/var/cache/fscache": cache}
    program = runnable(
        tree_of(cached(), tmp_path), "c1", "/usr/local/sbin/clustergen-file-cache", tmp_path / "c1", changes
    )
    settings = tmp_path / "c1/etc/clustergen/file-cache.json"
    settings.write_text(settings.read_text(encoding="utf-8").replace('"bstop": 3', '"bstop": 0'), encoding="utf-8")
    env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    for line in lines:
        assert line in done.stdout
    assert "RdHelp" not in done.stdout


@pytest.mark.slow
def test_a_full_disk_is_shown(tmp_path: Path) -> None:
    """Limits above what is free here stand for a disk that is full."""
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "cache").mkdir()
    (tmp_path / "proc/self/mounts").write_text(f"/dev/sda {tmp_path}/cache xfs rw 0 0\n", encoding="utf-8")
    changes = {"/proc": tmp_path / "proc", "/var/cache/fscache": tmp_path / "cache", '"bstop": 3': '"bstop": 101'}
    tree = tree_of(cached(), tmp_path)
    program = runnable(tree, "c1", "/usr/local/sbin/clustergen-file-cache", tmp_path / "c1", changes)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert "nothing is added" in done.stdout
    assert done.returncode == 1
