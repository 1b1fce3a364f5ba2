#!/usr/bin/python3
"""Cache of NFS files: its disk, its daemon, the mounts that use it and the kernel's counts.

The exit status is 1 where something keeps files from being cached.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SETTINGS: dict[str, Any] = json.loads(Path("/etc/clustergen/file-cache.json").read_text(encoding="utf-8"))
PROC = Path("/proc")
DIRECTORY: str = SETTINGS["directory"]
COUNTS = ("Cookies", "Acquire", "Lookups", "IO", "NoSpace", "CacheOp")
"""Lines of the kernel's statistics; which there are depends on its release."""


def disk(mounts: list[list[str]]) -> tuple[bool, str]:
    """The share of the disk that is free, and what follows from the limits."""
    devices = [words[0] for words in mounts if words[1] == DIRECTORY]
    if not devices:
        return False, f"disk: not mounted at {DIRECTORY}"
    of = os.statvfs(DIRECTORY)
    free = {"space": 100 * of.f_bavail // max(of.f_blocks, 1), "files": 100 * of.f_ffree // max(of.f_files, 1)}
    least = min(free.values())
    if least < SETTINGS["bstop"]:
        state = "nothing is added"
    elif least < SETTINGS["bcull"]:
        state = "files that were not read for longest are removed"
    else:
        state = "in order"
    size = of.f_blocks * of.f_frsize / 1e9
    text = f"disk: {devices[-1]}, {size:.0f} GB, free: {free['space']} % of space, {free['files']} % of files"
    return least >= SETTINGS["bstop"], f"{text}: {state}"


def daemon() -> tuple[bool, str]:
    command = ("systemctl", "is-active", "cachefilesd.service")
    state = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return state == "active", f"cachefilesd: {state or 'unknown'}"


def users(mounts: list[list[str]]) -> Iterator[tuple[bool, str]]:
    """NFS mounts, with and without the cache; a node where no mount uses it has none to report."""
    nfs = [words for words in mounts if words[2] in ("nfs", "nfs4")]
    for words in nfs:
        yield True, f"{words[1]}: {'cached' if 'fsc' in words[3].split(',') else 'not cached'}"
    if not any("fsc" in words[3].split(",") for words in nfs):
        yield False, "no NFS mount has the option fsc"


def counts() -> Iterator[tuple[bool, str]]:
    path = PROC / "fs/fscache/stats"
    if not path.exists():
        yield False, "kernel: module fscache is not loaded"
        return
    for line in path.read_text(encoding="ascii", errors="replace").splitlines():
        name, colon, rest = line.partition(":")
        if colon and name.strip() in COUNTS:
            yield True, f"kernel: {name.strip()} {rest.strip()}"


def main() -> int:
    lines = (PROC / "self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    mounts = [line.split() for line in lines]
    rows = [disk(mounts), daemon(), *users(mounts), *counts()]
    for _, text in rows:
        print(text)
    return 0 if all(good for good, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
