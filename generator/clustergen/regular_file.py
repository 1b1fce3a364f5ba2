"""Reading a file that somebody else may have put in place: never waits, never follows a link unasked, has a limit."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CHUNK = 1 << 20


class NotRegularError(OSError):
    """The path holds a directory, a symbolic link, a FIFO, a socket, a device, or a stream without an end."""


@contextmanager
def opened(
    path: str | Path, follow_links: bool = False, parent: int | None = None
) -> Iterator[tuple[int, os.stat_result]]:
    """The descriptor of a regular file and its status. Raises OSError, NotRegularError among them.

    `parent`: the descriptor of the directory in which a relative path begins.
    """
    try:
        descriptor = os.open(path, _FLAGS if follow_links else _FLAGS | os.O_NOFOLLOW, dir_fd=parent)
    except OSError as err:
        if err.errno == errno.ELOOP and not follow_links:
            raise NotRegularError(errno.ELOOP, "it is a symbolic link, not a file", str(path)) from None
        if err.errno == errno.ENXIO:
            raise NotRegularError(errno.ENXIO, "it is a socket or a device, not a file", str(path)) from None
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            kind = "directory" if stat.S_ISDIR(status.st_mode) else "pipe or a device, not a file"
            raise NotRegularError(errno.EINVAL, f"it is a {kind}", str(path))
        yield descriptor, status
    finally:
        os.close(descriptor)


def read(path: str | Path, limit: int, follow_links: bool = False) -> bytes:
    """The content of a regular file of at most `limit` bytes. Raises OSError: with EFBIG for a larger file,
    NotRegularError where it is no regular file or has no end (/proc/kmsg).
    """
    with opened(path, follow_links) as (descriptor, _status):
        return content_of(descriptor, limit, path)


def content_of(descriptor: int, limit: int, path: str | Path) -> bytes:
    """The content of an open file, as `read` returns it."""
    chunks: list[bytes] = []
    size = 0
    try:
        while chunk := os.read(descriptor, min(_CHUNK, limit + 1 - size)):
            chunks.append(chunk)
            size += len(chunk)
            if size > limit:
                raise OSError(errno.EFBIG, f"it is larger than {limit:,} bytes", str(path))
    except BlockingIOError:
        raise NotRegularError(errno.EAGAIN, "it is a stream, not a file", str(path)) from None
    return b"".join(chunks)


def reason_of(error: BaseException) -> str:
    """Why a file cannot be used, as the end of a sentence: `no such file or directory`, which the system begins with a
    capital.
    """
    text = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
