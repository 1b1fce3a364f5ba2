"""Reads the files of a directory that somebody handed over: nothing outside it, nothing endless or too large."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from clustergen import regular_file
from clustergen.regular_file import reason_of

MOST_BYTES = 16 << 20
"""Of one file, and of all that it includes. A slurm.conf with 100,000 node lines has about 10 MB."""
MOST_LINES = 250_000
"""Of all files that one slurm.conf includes, each counted as often as it is included."""
NO_FILE = "there is no such file in the directory"
_OUTSIDE = "it is outside the directory"


def is_there(path: Path) -> bool:
    """True if a name is taken by something other than a directory: a file, and what cannot be read as one, such as a
    pipe, a device, or a link that leads nowhere. What cannot be read must not count as absent.
    """
    return os.path.lexists(path) and not os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises PermissionError


class Reader:
    """Files below one directory, by names relative to it. Links are followed only where they stay inside."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    def has(self, name: str) -> bool:
        """True if `read` has something of that name to read, or to refuse with a reason."""
        return is_there(self.root / name)

    def read(self, name: str, most: int = MOST_BYTES) -> bytes:
        """The content of a file. Raises OSError, with the reason as `strerror`, for what is not there or not for us."""
        if "\0" in name:
            raise FileNotFoundError(errno.ENOENT, NO_FILE)
        path = self.root / name
        try:
            real = os.path.realpath(path, strict=True)
        except FileNotFoundError:
            real = os.path.realpath(path)
        except OSError as err:
            why = "its symbolic links form a loop" if err.errno == errno.ELOOP else reason_of(err)
            raise OSError(err.errno, why, str(path)) from None
        if not Path(real).is_relative_to(self.root):
            why = f"{_OUTSIDE}, a link to {real}" if path.is_symlink() else _OUTSIDE
            raise OSError(errno.EXDEV, why, str(path))  # the number that openat2 has for it
        try:
            return regular_file.read(real, most)
        except FileNotFoundError:
            why = f"a link to {real}, which does not exist" if path.is_symlink() else NO_FILE
            raise FileNotFoundError(errno.ENOENT, why, str(path)) from None
