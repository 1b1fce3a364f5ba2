"""Writes the files that a command makes: each whole or not at all, and never through a symbolic link."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path


def write_all(
    files: Mapping[Path, bytes], programs: Collection[Path] = (), modes: Mapping[Path, int] | None = None
) -> None:
    """Writes every file beside its place, then moves all into their places. Raises OSError, and leaves what was there,
    where one cannot be written, as on a full disk. A symbolic link at a place is replaced, not followed.
    `modes`: permissions other than the usual ones.
    """
    mask = os.umask(0)
    os.umask(mask)
    ready: dict[Path, Path] = {}
    try:
        for path, content in files.items():
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                handle, name = tempfile.mkstemp(prefix=".clustergen.", dir=path.parent)
                ready[path] = Path(name)
                with os.fdopen(handle, "wb") as stream:
                    stream.write(content)
                usual = (0o777 if path in programs else 0o666) & ~mask
                ready[path].chmod((modes or {}).get(path, usual))
            except OSError as err:
                raise OSError(err.errno, err.strerror, str(path)) from None
        for path, temporary in ready.items():
            try:
                temporary.replace(path)
            except OSError as err:
                raise OSError(err.errno, err.strerror, str(path)) from None
    finally:
        for temporary in ready.values():
            temporary.unlink(missing_ok=True)


def write_own(path: Path, content: bytes, check: Callable[[Path], int | None], mode: int | None = None) -> None:
    """Writes a file where there is none, or where one of the same kind is.

    `check` returns the permissions of what is there, None for nothing, and raises for what may not be replaced. It is
    asked again right before that: meanwhile somebody may have put another file there. `mode`: permissions, whatever
    those of the replaced file are. Raises OSError, and leaves what was there, where the file cannot be written.
    """
    mask = os.umask(0)
    os.umask(mask)
    previous = check(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".clustergen.", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        temporary.chmod(mode if mode is not None else 0o666 & ~mask if previous is None else previous)
        if previous is None:
            with suppress(OSError):  # it is there by now, or its file system has no hard links
                path.hardlink_to(temporary)
                return
        check(path)
        temporary.replace(path)
    except OSError as err:
        raise OSError(err.errno, err.strerror, str(path)) from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def link_below(directory: Path, path: Path) -> Path | None:
    """The first component of `path` below `directory` that is a symbolic link; None where none is."""
    place = directory
    for part in path.relative_to(directory).parts:
        place /= part
        if place.is_symlink():
            return place
    return None
