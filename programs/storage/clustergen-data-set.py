#!/usr/bin/python3 -I
"""Prints the path of a copy of a data set on this node's disk, which the first job makes and others wait for.

    data=$(clustergen-data-set /data/imagenet)

The source must not change; write another release of it to another path. Copies belong to the user who made them.
Without room, or outside of a job, the path of the source is printed, with the reason on stderr.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

VALUES = Path("/etc/clustergen/data-sets.json")  # of nodes that have the disk
SETTINGS: dict[str, Any] = json.loads(VALUES.read_text(encoding="utf-8")) if VALUES.exists() else {}
SPARE = 0.05  # share of the disk that no copy takes


class NoCopyError(Exception):
    """The reason why the job reads the source."""


def own_directory() -> Path:
    """The user's directory, which the prolog makes."""
    if not SETTINGS:
        raise NoCopyError("this node has no cache of data sets")
    place = Path(SETTINGS["directory"]) / str(os.getuid())
    try:
        status = place.lstat()
    except OSError as error:
        raise NoCopyError(f"{place}: {error.strerror}") from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise NoCopyError(f"{place} is not a directory of this user")
    return place


def version(source: Path) -> str:
    """Changes with the source's own time and size; not with files deep in it, which would be read for each job."""
    status = source.stat()
    return f"{status.st_mtime_ns} {status.st_size if stat.S_ISREG(status.st_mode) else 0}"


def size(source: Path) -> int:
    """Bytes of all files; links count as links."""
    if source.is_file():
        return source.stat().st_size
    total = 0
    for directory, _, names in os.walk(source):
        total += sum(Path(directory, name).lstat().st_size for name in names)
    return total


def link_out(source: Path) -> Path | None:
    """A relative link that leads out of the source, and so nowhere from a copy."""
    for directory, directories, names in os.walk(source):
        for path in (Path(directory, name) for name in directories + names):
            target = path.readlink() if path.is_symlink() else path
            if not target.is_absolute() and source not in Path(os.path.normpath(path.parent / target / "x")).parents:
                return path
    return None


def remove(place: Path) -> None:
    """Removes a copy, also of directories without write permission."""
    subprocess.run(["chmod", "-R", "u+rwX", "--", place], stderr=subprocess.DEVNULL, check=False)
    shutil.rmtree(place)


def locked(path: Path) -> int:
    """Waits for the lock. clustergen-data-sets removes the file of a copy that is gone: then another one counts."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                os.utime(path)
                return descriptor
        except FileNotFoundError:
            pass
        os.close(descriptor)


def is_current(place: Path, source: Path) -> bool:
    try:
        stated = json.loads((place / "source.json").read_text(encoding="utf-8"))
        return bool(stated == {"source": str(source), "version": version(source)})
    except (OSError, ValueError):
        return False


def copy(place: Path, source: Path) -> None:
    """Makes the copy complete or not at all."""
    draft = place.with_name(f"{place.name}.new")
    for old in (draft, place):
        if old.exists():
            remove(old)
    stated = version(source)
    need, disk = size(source), os.statvfs(place.parent)
    room = disk.f_bavail * disk.f_frsize - SPARE * disk.f_blocks * disk.f_frsize
    if need > min(room, SETTINGS["size_bytes"]):
        raise NoCopyError(f"no room for {need / 1e9:.1f} GB in {place.parent}")
    if link := link_out(source):
        raise NoCopyError(f"{link} leads out of {source}")
    draft.mkdir()
    (draft / "jobs").mkdir()
    command = ["cp", "-r", "--preserve=mode,timestamps,links", "--", str(source), str(draft / source.name)]
    done = subprocess.run(command, check=False)
    if done.returncode or size(draft / source.name) != need or version(source) != stated:
        remove(draft)
        raise NoCopyError(f"{source} was not copied completely, or changed meanwhile")
    text = json.dumps({"source": str(source), "version": stated})
    (draft / "source.json").write_text(text, encoding="utf-8")
    draft.rename(place)


def copied(source: Path) -> Path:
    """The path of the copy. The job is noted in it: clustergen-data-sets keeps what running jobs use."""
    job = os.environ.get("SLURM_JOB_ID", "")
    if not job.isdigit():
        raise NoCopyError("this is not a job of Slurm")
    directory = own_directory()
    name = re.sub(r"[^A-Za-z0-9._-]", "_", source.name)[:64]
    place = directory / f"{hashlib.sha256(os.fsencode(source)).hexdigest()[:16]}-{name}"
    descriptor = locked(directory / f"{place.name}.lock")
    try:
        if not is_current(place, source):
            copy(place, source)
        (place / "jobs" / job).touch()
        os.utime(place)
    finally:
        os.close(descriptor)
    return place / source.name


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("usage: clustergen-data-set DIRECTORY|FILE", file=sys.stderr)
        return 2
    source = Path(os.path.realpath(sys.argv[1]))
    if not source.exists():
        print(f"clustergen-data-set: {source} does not exist", file=sys.stderr)
        return 1
    try:
        print(copied(source))
    except (NoCopyError, OSError) as error:
        print(f"clustergen-data-set: {error}: the job reads {source}", file=sys.stderr)
        print(source)
    return 0


if __name__ == "__main__":
    sys.exit(main())
