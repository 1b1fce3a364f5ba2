"""Files that a user keeps beside the rendered ones in a tree's directory: host_vars, group_vars, files, roles.

Ansible reads these, so a saved plan has their digest, and a check on a copy of the directory reads the same ones.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from clustergen import regular_file
from clustergen.diagnostics import ClustergenError, printable
from clustergen.regular_file import reason_of
from clustergen.render.tree import STAGING

MOST_FILES = 20_000
MOST_BYTES = 1 << 30
_NOT_READ = (".log", ".retry", ".pyc")
"""Endings of files that runs of Ansible leave behind."""


def digest(directory: Path, rendered: Collection[str]) -> str:
    """SHA-256 of names, modes and contents of all files but the `rendered` ones, hidden ones and logs.

    Links are followed, wherever they lead. Raises ClustergenError for a file that cannot be read, and for more than
    MOST_FILES or MOST_BYTES.
    """
    total = hashlib.sha256()
    files = size = 0
    try:
        for name, path in _kept(directory, rendered):
            content, length = _content(path)
            total.update(f"{len(name)} {name} {content}\n".encode(errors="surrogateescape"))
            files, size = files + 1, size + length
            if files > MOST_FILES or size > MOST_BYTES:
                message = f"{directory} has more than {MOST_FILES:,} files, or 1 GiB, beside the rendered ones"
                raise ClustergenError(message, f"move them away; {printable(name)} is one of them")
    except OSError as err:
        raise ClustergenError(printable(f"{err.filename or directory}: {reason_of(err)}")) from None
    return total.hexdigest()


def _kept(directory: Path, rendered: Collection[str]) -> Iterator[tuple[str, str]]:
    """The name below the directory, and the path, of each file and link; links to directories are entered once."""
    entered = set()
    stack = [("", str(directory))]
    while stack:
        above, place = stack.pop()
        status = os.stat(place)  # noqa: PTH116 - thousands of plain strings
        if (status.st_dev, status.st_ino) in entered:
            continue
        entered.add((status.st_dev, status.st_ino))
        for name in sorted(os.listdir(place)):  # noqa: PTH208
            below = f"{above}{name}"
            if name.startswith(".") or name == "__pycache__" or name.endswith(_NOT_READ) or below in rendered:
                continue
            path = f"{place}/{name}"
            if os.path.isdir(path):  # noqa: PTH112
                if os.path.islink(path):  # noqa: PTH114
                    yield f"{below} -> {os.readlink(path)}", path  # noqa: PTH115
                stack.append((f"{below}/", path))
            else:
                yield below, path


def _content(path: str) -> tuple[str, int]:
    """Mode and digest, and size of a file; of what is none, such as a pipe or a link that leads nowhere, a word."""
    try:
        with regular_file.opened(path, follow_links=True) as (descriptor, status):
            sha256, size = hashlib.sha256(), 0
            while (chunk := os.read(descriptor, 1 << 20)) and size <= MOST_BYTES:
                sha256.update(chunk)
                size += len(chunk)
            return f"{stat.S_IMODE(status.st_mode):o} {sha256.hexdigest()}", size
    except (FileNotFoundError, BlockingIOError, regular_file.NotRegularError):
        return "no file", 0
    except OSError as err:
        if err.errno == errno.ELOOP:
            return "no file", 0
        raise


def copy(directory: Path, place: Path) -> None:
    """Copies a directory. Links lead where they led: those within it to the copy, all others to the original place.

    What is neither file nor directory is left out, as are the files of a render under way.
    """
    base = os.path.realpath(directory)
    stack = [""]
    try:
        while stack:
            below = stack.pop()
            (place / below).mkdir(parents=not below)
            with os.scandir(f"{base}/{below}") as entries:
                for entry in entries:
                    name = f"{below}{entry.name}"
                    if entry.is_symlink():
                        (place / name).symlink_to(_target(base, below, entry.path))
                    elif entry.is_dir():
                        stack.extend(() if name == STAGING else (f"{name}/",))
                    elif entry.is_file():
                        shutil.copy2(entry.path, place / name)
    except OSError as err:
        raise ClustergenError(printable(f"{err.filename or directory}: {reason_of(err)}")) from None


def _target(base: str, below: str, path: str) -> str:
    """The text of a link in the copy."""
    target = os.path.realpath(path)
    return os.path.relpath(target, f"{base}/{below}") if f"{target}/".startswith(f"{base}/") else target
