"""Writes the files that a command makes: each whole or not at all, and never through a symbolic link."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from clustergen.new_file import NewFile


def write_all(files: Mapping[Path, bytes], programs: Collection[Path] = ()) -> None:
    """Writes every file without a name, then puts all in their places. Raises OSError, and leaves what was there,
    where one cannot be written, as on a full disk. A symbolic link at a place is replaced, not followed.
    """
    mask = os.umask(0)
    os.umask(mask)
    with ExitStack() as stack:
        ready: list[NewFile] = []
        for path, content in files.items():
            with _naming(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                ready.append(stack.enter_context(NewFile(path, content)))
                os.fchmod(ready[-1].descriptor, (0o777 if path in programs else 0o666) & ~mask)
        for file in ready:
            with _naming(file.path):
                file.replace()


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors name the path that the user knows."""
    try:
        yield
    except OSError as err:
        raise OSError(err.errno, err.strerror, str(path)) from None


def write_own(path: Path, content: bytes, check: Callable[[Path], int | None], mode: int | None = None) -> None:
    """Writes a file where there is none, or where one of the same kind is.

    `check` returns the permissions of what is there, None for nothing, and raises for what may not be replaced. It is
    asked again right before that: meanwhile somebody may have put another file there. `mode`: permissions, whatever
    those of the replaced file are. Raises OSError, and leaves what was there, where the file cannot be written.
    """
    mask = os.umask(0)
    os.umask(mask)
    previous = check(path)
    with _naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with NewFile(path, content) as file:
            os.fchmod(file.descriptor, mode if mode is not None else 0o666 & ~mask if previous is None else previous)
            if previous is None:
                with suppress(OSError):  # it is there by now, or its file system has no hard links
                    file.create()
                    return
            check(path)
            file.replace()


def link_below(directory: Path, path: Path) -> Path | None:
    """The first component of `path` below `directory` that is a symbolic link; None where none is."""
    place = directory
    for part in path.relative_to(directory).parts:
        place /= part
        if place.is_symlink():
            return place
    return None
