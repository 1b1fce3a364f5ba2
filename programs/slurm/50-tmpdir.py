#!/usr/bin/python3 -I
"""The job's scratch directory: the prolog creates it, the epilog removes it. Nothing that a user does is a failure.

In the prolog, whatever has its name is moved aside first. If users filled the disk, the job starts without its
directory, and TMPDIR is not set. In the epilog, mounts that the job left are detached, the directory is renamed into
one that only root can enter, and what is not deleted soon is deleted in the background.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import pwd
import re
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

VALUES = json.loads(Path("/etc/clustergen/tmpdir.json").read_text(encoding="utf-8"))
PATIENCE: float = VALUES["patience_s"]  # for a deletion before it goes on in the background
LOCK = "/run/clustergen-tmpdir.lock"  # of the one process that deletes in the background
BOUND = 3600  # seconds for the background; the next job continues
DETACH = 2 | 8  # MNT_DETACH | UMOUNT_NOFOLLOW
BROKEN = (errno.EIO, errno.EROFS, errno.EUCLEAN, errno.ENXIO, errno.ENODEV)  # the disk, and not what is on it
FULL = (errno.ENOSPC, errno.EDQUOT)
REMOVE = ["rm", "-rf", "--one-file-system", "--"]


class MountPoint(NamedTuple):
    """A line of mountinfo: ids of the mount and of the one that it is in."""

    number: bytes
    parent: bytes
    path: str


def mounts(directory: Path) -> list[MountPoint]:
    """The mounts at or below the directory. Looks into none: a FUSE daemon may hang."""
    points = []
    with Path("/proc/self/mountinfo").open("rb") as table:
        for line in table:
            fields = line.split(b" ")
            path = os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), fields[4]))
            if path == str(directory) or path.startswith(f"{directory}/"):
                points.append(MountPoint(fields[0], fields[1], path))
    return points


def mount_of(descriptor: int) -> bytes:
    """Number of the mount that an open file is on."""
    with Path(f"/proc/self/fdinfo/{descriptor}").open("rb") as lines:
        return next(line.split()[1] for line in lines if line.startswith(b"mnt_id:"))


def detach_one(base: Path, path: str) -> None:
    """Step by step without links: another job of the same user may exchange the directories meanwhile."""
    names = os.path.relpath(path, base).split("/")
    inside = os.open(base, os.O_PATH | os.O_DIRECTORY)
    try:
        home = mount_of(inside)
        for name in names[:-1]:
            deeper = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=inside)
            os.close(inside)
            inside = deeper
            if mount_of(inside) != home:
                return
        os.fchdir(inside)
        ctypes.CDLL(None).umount2(os.fsencode(names[-1]), DETACH)
    except OSError:
        pass  # gone meanwhile, or exchanged; the caller looks again
    finally:
        os.close(inside)
        os.chdir("/")


def detach(base: Path, directory: Path) -> None:
    """Detaches all mounts at or below the directory; those below another one go with it."""
    for _ in range(10):
        points = mounts(directory)
        if not points:
            return
        numbers = {point.number for point in points}
        outer = {point.path for point in points if point.parent not in numbers}
        for point in reversed(points):
            if point.path in outer:
                detach_one(base, point.path)


def claim(base: Path) -> None:
    """Gives the parent to root where others could rename what is in it; tmpfiles.d does the same at boot."""
    status = base.stat()
    if status.st_uid or (status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX):
        os.chown(base, 0, 0)
        base.chmod(0o755)
        print(f"{base} belongs to root now, with mode 0755")


def is_private(path: Path) -> bool:
    """True if the path is a directory of root that nobody else can enter."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == 0 and not status.st_mode & 0o077


def trash(base: Path) -> Path:
    """The directory whose content is deleted. Another one if users can write to the parent and took its name."""
    place = base / ".removing"
    try:
        place.mkdir(0o700)
    except FileExistsError:
        if not is_private(place):
            return Path(tempfile.mkdtemp(prefix=".removing.", dir=base))
    return place


def leftovers(base: Path) -> Iterator[Path]:
    for place in base.glob(".removing*"):
        if is_private(place):
            yield from place.iterdir()


def delete(place: Path) -> None:
    """Deletes what can be deleted soon."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run([*REMOVE, place], stderr=subprocess.DEVNULL, timeout=PATIENCE, check=False)


def set_aside(base: Path, directory: Path) -> Path | None:
    """Renames the directory into the trash, and returns its place there."""
    for attempt in range(3):
        detach(base, directory)
        try:
            return directory.rename(trash(base) / f"{directory.name}.{time.time_ns()}")
        except FileNotFoundError:
            return None
        except OSError as error:
            if attempt == 2 or error.errno in BROKEN:
                raise
            if error.errno in FULL:  # no space for the trash
                delete(directory)
    return None


def delete_in_background(base: Path) -> None:
    """One process on the node, of its own session: it outlives this script. The parent continues at once."""
    if not any(leftovers(base)) or os.fork():
        return
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.nice(19)
        lock = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        end = time.monotonic() + BOUND
        tried: set[Path] = set()
        while time.monotonic() < end:
            place = next((one for one in leftovers(base) if one not in tried), None)
            if place is None:
                break
            tried.add(place)
            subprocess.run(["ionice", "-c", "3", *REMOVE, place], timeout=end - time.monotonic(), check=False)
    finally:
        os._exit(0)


def is_ready(directory: Path, uid: int) -> bool:
    """The job's own directory, as after a restart of slurmd."""
    if mounts(directory):
        return False
    status = directory.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == uid


def create(base: Path, directory: Path, uid: int, gid: int) -> None:
    for _ in range(5):  # users who can write to the parent may take the name again
        with contextlib.suppress(FileExistsError):
            directory.mkdir(0o700)
            os.chown(directory, uid, gid, follow_symlinks=False)
            return
        with contextlib.suppress(FileNotFoundError):
            if is_ready(directory, uid):
                return
            if set_aside(base, directory):
                print(f"moved aside what had the name {directory}")
    raise OSError(errno.EEXIST, "another user takes its name again and again")


def prolog(base: Path, directory: Path) -> None:
    uid = os.environ["SLURM_JOB_UID"]
    try:
        user = pwd.getpwuid(int(uid))
    except KeyError:  # an outage of the directory service would drain all nodes
        print(f"user {uid} is not known on this node: no scratch directory; check SSSD")
        return
    os.umask(0o022)
    base.mkdir(parents=True, exist_ok=True)
    claim(base)
    create(base, directory, user.pw_uid, user.pw_gid)


def epilog(base: Path, directory: Path) -> None:
    claim(base)
    points = mounts(directory)
    place = set_aside(base, directory)
    if points:
        print("detached what the job left mounted: " + ", ".join(repr(point.path)[:200] for point in points[:5]))
    if place:
        delete(place)
        if os.path.lexists(place):
            print(f"{directory} is not deleted after {PATIENCE} seconds: the deletion continues in the background")


def main() -> None:
    number = os.environ.get("SLURM_JOB_ID", "")
    if not re.fullmatch("[0-9]+", number):
        sys.exit("no SLURM_JOB_ID")
    base = Path(os.path.realpath(VALUES["tmpdir"]))
    directory = base / number
    try:
        if Path(sys.argv[0]).parent.name == "prolog.d":
            prolog(base, directory)
        elif base.is_dir():
            epilog(base, directory)
    except OSError as error:
        print(f"{directory}: {error.strerror}")
        if error.errno in BROKEN:
            sys.exit(1)
    delete_in_background(base)


if __name__ == "__main__":
    main()
