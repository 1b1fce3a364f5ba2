#!/usr/bin/python3 -IS
"""Replaces a file as root, also in a directory of another account. Also the program clustergen-write of a node:

    clustergen-write FILE                        writes standard input to FILE, with mode 0644
    clustergen-write --directory DIRECTORY USER  creates DIRECTORY with mode 0700; what is in its place stays as it is

The new file is created beside FILE under a random name, is complete before it replaces FILE in one step, and has its
owner and mode from then on. No link that an account other than root could have placed is followed, in any part of the
path: the directory's owner can exchange names, but cannot make root write to another file or device.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pwd
import stat
import sys
from collections.abc import Callable

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_LINKS = 40  # in one path, as for the kernel


def open_directory(path: str, create: bool = False) -> int:
    """A descriptor of a directory. `create`: makes it and its parents with mode 0755 where they are missing."""
    if not path.startswith("/"):
        raise OSError(errno.EINVAL, "not an absolute path", path)
    names = path.split("/")[::-1]
    links = 0
    place = os.open("/", _DIRECTORY)
    try:
        while names:
            name = names.pop()
            if name in ("", "."):
                continue
            try:
                inner = _open_entry(name, place, create)
            except OSError as err:
                if err.errno not in (errno.ENOTDIR, errno.ELOOP):
                    raise OSError(err.errno, err.strerror, path) from None
                links += 1
                if links > _MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path) from None
                target = _link_of_root(name, place, path)
                names += target.split("/")[::-1]
                inner = os.open("/", _DIRECTORY) if target.startswith("/") else os.dup(place)
            os.close(place)
            place = inner
    except BaseException:
        os.close(place)
        raise
    return place


def _open_entry(name: str, place: int, create: bool) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=place)
    except FileNotFoundError:
        if not create:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=place)
    inner = os.open(name, _DIRECTORY, dir_fd=place)
    os.fchmod(inner, 0o755)  # whatever the umask of a hardened root is
    return inner


def make_directory(path: str, ids: tuple[int, int]) -> None:
    """Creates a directory with mode 0700 for an account, unless something is in its place."""
    directory, name = os.path.split(path)
    place = open_directory(directory, create=True)
    try:
        try:
            os.mkdir(name, 0o700, dir_fd=place)
        except FileExistsError:
            return
        inner = os.open(name, _DIRECTORY, dir_fd=place)
        try:
            # Between the two steps, the parent's owner could exchange it for another directory of root's.
            if os.fstat(inner).st_uid != os.geteuid() or os.listdir(inner):
                raise OSError(errno.EBUSY, "not the directory that was created")
            os.fchown(inner, *ids)
        finally:
            os.close(inner)
    except OSError as err:
        raise OSError(err.errno, err.strerror, path) from None
    finally:
        os.close(place)


def _link_of_root(name: str, place: int, path: str) -> str:
    """Where a link leads that only root could place, such as /var/run. Raises OSError for any other."""
    try:
        target = os.readlink(name, dir_fd=place)
    except OSError:
        raise OSError(errno.ENOTDIR, f"{name} is not a directory", path) from None
    status = os.fstat(place)
    if status.st_uid not in (0, os.geteuid()) or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise OSError(errno.ELOOP, f"{name} is a symbolic link in a directory that not only root can write to", path)
    return target


def open_file(path: str) -> int:
    """A descriptor to read a regular file with one name. Raises OSError for all others, without waiting."""
    directory, name = os.path.split(path)
    place = open_directory(directory)
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    except OSError as err:
        reason = "a symbolic link is in its place" if err.errno == errno.ELOOP else err.strerror
        raise OSError(err.errno, reason, path) from None
    finally:
        os.close(place)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file, or one with several names", path)
    return descriptor


def replace(
    path: str,
    content: bytes,
    mode: int = 0o644,
    ids: tuple[int, int] | None = None,
    sync: bool = False,
    label: Callable[[str], object] | None = None,
) -> None:
    """Replaces a file; on an error the old one stays. `ids`: user and group, by default those of this process.

    `sync`: content is on disk before the old file goes. `label`: called with a path of the new file, for SELinux.
    """
    directory, name = os.path.split(path)
    new = ".clustergen-" + os.urandom(12).hex()
    place = open_directory(directory)
    try:
        # Closed to all until owner and mode are final.
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=place)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                _drop_access_list(descriptor)
                os.fchown(descriptor, *(ids or (os.geteuid(), os.getegid())))
                os.fchmod(descriptor, mode)
                if sync:
                    os.fsync(descriptor)
            if label:
                label(f"/proc/self/fd/{place}/{new}")
            os.rename(new, name, src_dir_fd=place, dst_dir_fd=place)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(new, dir_fd=place)
            raise
    except OSError as err:
        raise OSError(err.errno, err.strerror, path) from None
    finally:
        os.close(place)


def _drop_access_list(descriptor: int) -> None:
    """The directory's default list would give its accounts more than the mode does."""
    try:
        os.removexattr(descriptor, "system.posix_acl_access")
    except OSError as err:
        if err.errno not in (errno.ENODATA, errno.ENOTSUP):
            raise


def remove(path: str) -> None:
    """Removes a file or a link. Raises FileNotFoundError."""
    directory, name = os.path.split(path)
    place = open_directory(directory)
    try:
        os.unlink(name, dir_fd=place)
    finally:
        os.close(place)


def main() -> None:
    is_directory = sys.argv[1:2] == ["--directory"] and len(sys.argv) == 4
    if not is_directory and len(sys.argv) != 2:
        sys.exit("usage: clustergen-write /FILE <TEXT, or clustergen-write --directory /DIRECTORY USER")
    path = sys.argv[2 if is_directory else 1]
    try:
        if is_directory:
            account = pwd.getpwnam(sys.argv[3])
            make_directory(path, (account.pw_uid, account.pw_gid))
        else:
            replace(path, sys.stdin.buffer.read())
    except KeyError:
        sys.exit(f"{path}: no account {sys.argv[3]}")
    except OSError as err:
        sys.exit(f"{path}: {err.strerror}")


if __name__ == "__main__":
    main()
