"""The changes that turn one tree into the next: a list that can be carried out, or taken back, from any point in it.

Both look at the disk to see how far an earlier process came: a staged file that is no longer under `new/` is in place,
and a file under `old/` is one that was replaced or removed.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from clustergen import regular_file
from clustergen.diagnostics import ClustergenError
from clustergen.records import record
from clustergen.regular_file import reason_of
from clustergen.render.lock_file import is_inside
from clustergen.render.tree import FILE_LIMIT, LOCK_LIMIT

_FORMAT = 1
NOT_A_DIRECTORY = "it is not a directory"


@record
class Journal:
    """`remove`: path and SHA-256 of the file. `place`: path, SHA-256 of the file that is replaced or None, and SHA-256
    of the staged file, which is `new/N` for entry number N. `prune` and `make`: directories to be removed if they are
    empty, and to be created. No file with another hash is ever replaced or removed.
    """

    remove: Sequence[tuple[str, str]]
    prune: Sequence[str]
    make: Sequence[str]
    place: Sequence[tuple[str, str | None, str]]

    def encoded(self) -> bytes:
        fields = {name: getattr(self, name) for name in ("remove", "prune", "make", "place")}
        return json.dumps({"format": _FORMAT, **fields}).encode()

    @classmethod
    def read(cls, path: Path) -> Journal:
        """Raises ClustergenError (exit code 3) for a file that clustergen did not write."""
        try:
            document = json.loads(regular_file.read(path, 2 * LOCK_LIMIT))
            if document["format"] != _FORMAT:
                raise ValueError
            journal = cls(
                [(_path(path), _of(str, digest)) for path, digest in document["remove"]],
                [_path(path) for path in document["prune"]],
                [_path(path) for path in document["make"]],
                [
                    (_path(path), None if before is None else _of(str, before), _of(str, after))
                    for path, before, after in document["place"]
                ],
            )
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as err:
            reason = reason_of(err) if isinstance(err, OSError) else "it is not as clustergen writes it"
            raise ClustergenError(
                f"{path} cannot be read: {reason}",
                hint=f"remove {path.parent} and render again",
            ) from None
        return journal


def _path(value: Any) -> str:
    if not isinstance(value, str) or not is_inside(value):
        raise ValueError
    return value


def _of(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise ValueError
    return value


def parents(path: str) -> Iterator[str]:
    """`a/b`, `a` of `a/b/c`."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def misplaced(directory: Path, paths: Iterable[str]) -> dict[str, str]:
    """Directories that hold some of the paths and cannot be written through: path → what it is instead of a directory
    of this file system. A directory that does not exist is none of them.
    """
    device = os.stat(directory).st_dev  # noqa: PTH116 - lstat below, of plain strings
    wrong: dict[str, str] = {}
    for parent in {parent for path in paths for parent in parents(path)}:
        try:
            status = os.lstat(f"{directory}/{parent}")
        except (FileNotFoundError, NotADirectoryError):
            continue
        if stat.S_ISLNK(status.st_mode):
            wrong[parent] = "it is a symbolic link"
        elif not stat.S_ISDIR(status.st_mode):
            wrong[parent] = NOT_A_DIRECTORY
        elif status.st_dev != device:
            wrong[parent] = "it is on another file system than the tree"
    return wrong


def apply(directory: Path, staging: Path, journal: Journal) -> None:
    """Carries out all that is left to do. Raises OSError or ClustergenError where something is in the way."""
    _check_parents(directory, [path for path, _ in journal.remove], journal.prune)
    for number, (path, digest) in enumerate(journal.remove):
        target, old = directory / path, f"{staging}/old/r{number}"
        if not os.path.lexists(old) and os.path.lexists(target):
            _move(target, digest, old)
    for path in journal.prune:
        with suppress(OSError):  # not empty: others have files there
            (directory / path).rmdir()
    _check_parents(directory, [path for path, *_ in journal.place], journal.make)
    for path in journal.make:
        (directory / path).mkdir(exist_ok=True)
    for number, (path, before, after) in enumerate(journal.place):
        target, new, old = directory / path, staging / f"new/{number}", f"{staging}/old/{number}"
        if not os.path.lexists(new):
            continue
        if not _has_content(new, after):
            raise ClustergenError(f"{new} is not the file of {path} that the render prepared")
        if not os.path.lexists(old) and os.path.lexists(target):
            _move(target, before, old)
        _rename(str(new), str(target), target)


def undo(directory: Path, staging: Path, journal: Journal) -> None:
    """Takes back all that was carried out; what somebody else put in the place of a file stays. Raises OSError."""
    for number, (path, _before, after) in reversed(list(enumerate(journal.place))):
        target, new = directory / path, staging / f"new/{number}"
        if not os.path.lexists(new) and _has_content(target, after):
            target.rename(new)
        _restore(staging / f"old/{number}", target)
    for path in reversed(journal.make):
        with suppress(OSError):
            (directory / path).rmdir()
    for path in reversed(journal.prune):
        (directory / path).mkdir(exist_ok=True)
    for number, (path, _digest) in enumerate(journal.remove):
        _restore(staging / f"old/r{number}", directory / path)


def _restore(old: Path, target: Path) -> None:
    if os.path.lexists(old) and not os.path.lexists(target):
        old.rename(target)


def _check_parents(directory: Path, paths: Sequence[str], directories: Sequence[str]) -> None:
    for path, what in misplaced(directory, [*paths, *(f"{path}/." for path in directories)]).items():
        if what != NOT_A_DIRECTORY:  # that is seen where a file is moved
            raise ClustergenError(f"{directory / path}: {what}")


def _has_content(path: Path, digest: str | None) -> bool:
    try:
        return sha256(regular_file.read(path, FILE_LIMIT)).hexdigest() == digest
    except (FileNotFoundError, NotADirectoryError, regular_file.NotRegularError):
        return False


def _move(target: Path, digest: str | None, old: str) -> None:
    """Sets the file aside that the journal names, and no other."""
    if not _has_content(target, digest):
        raise ClustergenError(f"{target} was changed while clustergen wrote to its tree")
    _rename(str(target), old, target)


def _rename(source: str, destination: str, path: Path) -> None:
    """An error names the path in the tree."""
    try:
        os.rename(source, destination)  # noqa: PTH104 - plain strings
    except OSError as err:
        hint = ": a mount point is inside the tree" if err.errno in (errno.EXDEV, errno.EBUSY) else ""
        raise ClustergenError(f"{path}: {reason_of(err)}{hint}") from None
