#!/usr/bin/python3 -I
"""Removes data sets from the cache of this node: those that no job used for long, and the oldest while it is too large.

What a running job has noted or has open stays, as does a copy that is being made. Users own what is below their
directories: root enters these without following links, and leaves other file systems alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

SETTINGS: dict[str, Any] = json.loads(Path("/etc/clustergen/data-sets.json").read_text(encoding="utf-8"))
PROC = Path("/proc")
BASE: str = os.path.realpath(SETTINGS["directory"])
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
JOB = re.compile(rb"/job_([0-9]+)(?:/|$)", re.MULTILINE)
OF_JOB = re.compile(rb"(?:^|\0)SLURM_JOB_ID=([0-9]+)\0")
LOCK = ".lock"
PREFIX = "clustergen_data_sets"
ASIDE = ".removing-"


class DataSet(NamedTuple):
    """Content of a user's directory, but for locks, which are empty. `used_s`: when, in seconds of Unix; `space`: bytes
    on the disk.
    """

    owner: str
    name: str
    used_s: float
    space: int


def inside(place: int) -> str:
    """A path to an open directory, for programs that begin there."""
    return f"/proc/{os.getpid()}/fd/{place}"


def space_of(name: str, place: int) -> int:
    """Bytes of a file, or of a directory with all that is below it on the same disk."""
    command = ["du", "--summarize", "--one-file-system", "--block-size=1", "--", f"./{name}"]
    done = subprocess.run(command, cwd=inside(place), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return int(done.stdout.split()[0]) if done.stdout else 0


def names(place: int) -> list[str]:
    with os.scandir(place) as entries:
        return [entry.name for entry in entries]


def data_sets() -> Iterator[DataSet]:
    """All of them; what disappears meanwhile is left out, as are files and links in place of a user's directory."""
    base = os.open(BASE, DIRECTORY)
    try:
        for owner in names(base):
            with contextlib.suppress(OSError):
                place = os.open(owner, DIRECTORY, dir_fd=base)
                try:
                    yield from of_user(owner, place)
                finally:
                    os.close(place)
    finally:
        os.close(base)


def of_user(owner: str, place: int) -> Iterator[DataSet]:
    for name in names(place):
        with contextlib.suppress(OSError):
            status = os.stat(name, dir_fd=place, follow_symlinks=False)
            if not (name.endswith(LOCK) and stat.S_ISREG(status.st_mode) and not status.st_size):
                yield DataSet(owner, name, status.st_mtime, space_of(name, place))


def used() -> tuple[set[str], set[tuple[str, str]]]:
    """Jobs that run on this node, and data sets with a file that a process has open, mapped or as its directory."""
    jobs: set[str] = set()
    paths: set[str] = set()
    for process in PROC.glob("[0-9]*"):
        for file, pattern in (("cgroup", JOB), ("environ", OF_JOB)):
            with contextlib.suppress(OSError):
                jobs.update(number.decode() for number in pattern.findall((process / file).read_bytes()))
        links = [process / "cwd", process / "root", process / "exe"]
        for directory in ("fd", "map_files"):
            with contextlib.suppress(OSError):
                links += list((process / directory).iterdir())
        for link in links:
            with contextlib.suppress(OSError):
                paths.add(os.fspath(link.readlink()))
    below = (path[len(BASE) + 1 :].split("/") for path in paths if path.startswith(f"{BASE}/"))
    return jobs, {(parts[0], parts[1]) for parts in below if len(parts) > 1}


def is_noted(name: str, place: int, jobs: set[str]) -> bool:
    """True if a running job is among those that asked for the copy."""
    try:
        directory = os.open(f"{name}/jobs", DIRECTORY, dir_fd=place)
    except OSError:
        return False
    try:
        return not jobs.isdisjoint(names(directory))
    finally:
        os.close(directory)


def is_busy(one: DataSet, place: int) -> bool:
    jobs, open_ones = used()
    return (one.owner, one.name) in open_ones or is_noted(one.name, place, jobs)


def open_lock(name: str, place: int) -> int:
    """The lock of a data set; a new one is the user's, whose jobs have to open it."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        lock = os.open(name, flags | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=place)
    except FileExistsError:
        return os.open(name, flags, dir_fd=place)
    owner = os.fstat(place)
    os.fchown(lock, owner.st_uid, owner.st_gid)
    return lock


def remove(one: DataSet) -> bool:
    """Takes its lock, so that no job begins to use it meanwhile. False if it is in use."""
    base = os.open(BASE, DIRECTORY)
    place = lock = -1
    try:
        place = os.open(one.owner, DIRECTORY, dir_fd=base)
        name = f"{one.name.removesuffix('.new')}{LOCK}"
        lock = open_lock(name, place)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_busy(one, place):
            return False
        # A part of it must not pass for the whole. `rm` enters directories without following links.
        aside = one.name if one.name.startswith(ASIDE) else f"{ASIDE}{time.time_ns()}"
        os.rename(one.name, aside, src_dir_fd=place, dst_dir_fd=place)
        command = ["rm", "-rf", "--one-file-system", "--", f"./{aside}"]
        subprocess.run(command, cwd=inside(place), stderr=subprocess.DEVNULL, check=False)
        os.unlink(name, dir_fd=place)
        return not os.path.lexists(f"{inside(place)}/{aside}")
    except OSError:  # locked by a job, or not what it was
        return False
    finally:
        for descriptor in (lock, place, base):
            if descriptor >= 0:
                os.close(descriptor)


def clean(time_s: float) -> tuple[int, int]:
    """Bytes that are left, and the number of data sets that are removed."""
    oldest_first = sorted(data_sets(), key=lambda one: one.used_s)
    total, removed = sum(one.space for one in oldest_first), 0
    for one in oldest_first:
        is_old = time_s - one.used_s > SETTINGS["days"] * 86400 or one.name.startswith(ASIDE)
        if (is_old or total > SETTINGS["size_bytes"]) and remove(one):
            print(f"removed {one.owner}/{one.name!a}: {one.space / 1e9:.1f} GB, {'unused' if is_old else 'no room'}")
            total, removed = total - one.space, removed + 1
    return total, removed


def check() -> None:
    """The directory belongs to root and is on its disk; without the mount it would be the system's."""
    status = os.lstat(BASE)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        sys.exit(f"{BASE} is not a directory of root that nobody else can write")
    if not os.path.ismount(SETTINGS["mount"]):
        sys.exit(f"{SETTINGS['mount']} is not mounted")


def main() -> None:
    if not os.path.lexists(BASE):
        return  # no job has asked for it yet
    check()
    total, _ = clean(time.time())
    rows = {"bytes": total, "limit_bytes": SETTINGS["size_bytes"]}
    lines = (f"# TYPE {PREFIX}_{name} gauge\n{PREFIX}_{name} {value}\n" for name, value in rows.items())
    text = "".join(lines)
    if SETTINGS["metrics_file"]:
        subprocess.run(["/usr/local/sbin/clustergen-write", SETTINGS["metrics_file"]], input=text.encode(), check=True)


if __name__ == "__main__":
    main()
