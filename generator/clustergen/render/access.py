"""One writer or several readers of an output directory at a time.

The lock is the kernel's, on the directory itself (flock): it needs no file, and the kernel drops it with its process.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clustergen.diagnostics import ClustergenError
from clustergen.regular_file import reason_of
from clustergen.render import staging

WAIT = 30.0  # seconds
_PATIENCE, _POLL = 1.0, 0.02  # seconds
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF}


@contextmanager
def writing(directory: Path, wait: float = WAIT) -> Iterator[None]:
    """Holds off all other writers and readers of an existing directory.

    Raises ClustergenError (exit code 3) where another process holds it for more than `wait` seconds, or where its file
    system has no locks. OSError where the directory cannot be opened.
    """
    try:
        descriptor = _acquire(directory, fcntl.LOCK_EX, wait)
    except OSError as err:
        if err.errno not in _NO_LOCKS:
            raise
        raise ClustergenError(
            f"{directory}: two renders could write at once, as this file system has no locks ({reason_of(err)})",
            hint="render into a directory on another file system, and copy it",
        ) from None
    try:
        yield
    finally:
        os.close(descriptor)


@contextmanager
def reading(directory: Path, wait: float = WAIT) -> Iterator[None]:
    """Holds off writers of a tree while it is read. Nothing happens where the directory does not exist.

    Raises ClustergenError (exit code 3) where a writer holds it for more than `wait` seconds, or where a writer was
    ended before all files were in place.
    """
    descriptor = None
    with suppress(OSError):  # unreadable, or without locks: what is read is still checked
        descriptor = _acquire(directory, fcntl.LOCK_SH, wait)
    try:
        if staging.is_pending(directory):
            raise ClustergenError(
                f"{directory}: a render was interrupted, so the files here belong to two trees",
                hint="`clustergen render` of its manifest completes it",
            )
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _acquire(directory: Path, kind: int, wait: float) -> int:
    """The descriptor that holds the lock. A directory that was exchanged meanwhile is opened anew."""
    start = time.monotonic()
    reported = False
    while True:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(descriptor), os.stat(directory)):  # noqa: PTH116 - beside fstat
                return descriptor
        except BlockingIOError:
            waited = time.monotonic() - start
            if waited > wait:
                os.close(descriptor)
                raise ClustergenError(
                    f"{directory} is in use by {staging.holder(directory)}", hint="try again when it has finished"
                ) from None
            if waited > _PATIENCE and not reported:
                sys.stderr.write(f"{directory}: waiting up to {wait:.0f} s for {staging.holder(directory)}\n")
                reported = True
            time.sleep(_POLL)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
