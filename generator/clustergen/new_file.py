"""Files that appear at their path whole or not at all, even where the process is killed while it writes them."""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import AbstractContextManager, suppress
from functools import cache
from hashlib import sha256
from itertools import count
from pathlib import Path

_TEMPORARY = re.compile(r"\.clustergen\.([0-9a-f]{12})\.([0-9]{1,9})\.[0-9]+")
_NUMBERS = count(1)
_DAY = 86_400  # seconds


class NewFile(AbstractContextManager["NewFile"]):
    """The content of a file, which has no name until `create` or `replace` gives it one.

    A file without a name vanishes with its process. To replace another file it needs a temporary name for one moment,
    and on file systems without O_TMPFILE, such as NFS, from the beginning: the next writer of the directory removes
    what killed ones have left under such names, on other machines after a day. All methods raise OSError; none follows
    a symbolic link at the path.
    """

    def __init__(self, path: Path, content: bytes) -> None:
        self.path = path
        self._name = ""
        self._directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.descriptor = -1
        try:
            self.descriptor = self._opened()
            with os.fdopen(os.dup(self.descriptor), "wb") as stream:
                stream.write(content)
        except BaseException:
            self.__exit__()
            raise

    def _opened(self) -> int:
        if Path("/proc/self/fd").is_dir():
            with suppress(OSError):  # not every file system has them
                return os.open(".", os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, 0o600, dir_fd=self._directory)
        self._name = self._temporary_name()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(self._name, flags, 0o600, dir_fd=self._directory)

    def _temporary_name(self) -> str:
        with os.scandir(self._directory) as entries:
            names = [entry.name for entry in entries]
        for name in names:
            match = _TEMPORARY.fullmatch(name)
            if match is None:
                continue
            with suppress(OSError):
                status = os.stat(name, dir_fd=self._directory, follow_symlinks=False)
                is_left = not _runs(int(match[2])) if match[1] == _machine() else time.time() - status.st_mtime > _DAY
                if is_left and stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
                    os.unlink(name, dir_fd=self._directory)
        return f".clustergen.{_machine()}.{os.getpid()}.{next(_NUMBERS)}"

    def create(self) -> None:
        """Puts the file at its path. Raises FileExistsError where something is there."""
        self._link(self.path.name)

    def replace(self) -> None:
        """Puts the file at its path, in the place of what is there."""
        if not self._name:
            name = self._temporary_name()
            self._link(name)
            self._name = name
        os.rename(self._name, self.path.name, src_dir_fd=self._directory, dst_dir_fd=self._directory)
        self._name = ""

    def _link(self, name: str) -> None:
        source = self._name or f"/proc/self/fd/{self.descriptor}"
        os.link(source, name, src_dir_fd=self._directory, dst_dir_fd=self._directory, follow_symlinks=not self._name)

    def __exit__(self, *_: object) -> None:
        if self._name:
            with suppress(OSError):
                os.unlink(self._name, dir_fd=self._directory)
        for descriptor in (self.descriptor, self._directory):
            if descriptor >= 0:
                os.close(descriptor)


@cache
def _machine() -> str:
    """Where numbers of processes mean the same as here: the running kernel and the namespace of PIDs."""
    names = [os.uname().nodename]
    with suppress(OSError):
        names = [Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"), os.readlink("/proc/self/ns/pid")]  # noqa: PTH115 - text
    return sha256("\n".join(names).encode()).hexdigest()[:12]


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
