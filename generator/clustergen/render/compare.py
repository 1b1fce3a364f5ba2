"""Files that a directory on disk lacks, or has too many, compared with a tree."""

from __future__ import annotations

import errno
import os
from hashlib import sha256
from pathlib import Path

from clustergen import regular_file
from clustergen.diagnostics import ClustergenError
from clustergen.records import record
from clustergen.regular_file import reason_of
from clustergen.render.access import reading
from clustergen.render.journal import NOT_A_DIRECTORY, misplaced, parents
from clustergen.render.lock_file import owned
from clustergen.render.tree import FILE_LIMIT, Tree

Contents = dict[str, tuple[bytes, int]]
"""Path → content and mode on disk, of all files of a tree."""


@record
class Difference:
    """A path that is not as rendered. `kind`: missing, changed, mode; blocked, where something other than a file is in
    its place; left-over, a file of an earlier render that is rendered no more; kept, such a file that was edited.
    """

    path: str
    kind: str


def differences(tree: Tree, directory: Path) -> list[Difference]:
    """The changes that a render would make. Raises ClustergenError (exit code 3) where the directory cannot be read."""
    with reading(directory):
        return compare(tree.contents(), directory, owned(directory))


def compare(contents: Contents, directory: Path, previous: dict[str, str]) -> list[Difference]:
    """The same as `differences`, without the lock. `previous`: as of `owned`."""
    try:
        wrong = misplaced(directory, [*contents, *previous]) if directory.exists() else {}
        elsewhere = {path for path, what in wrong.items() if what != NOT_A_DIRECTORY}
        kinds = {
            path: _kind(f"{directory}/{path}", *file) if elsewhere.isdisjoint(parents(path)) else "blocked"
            for path, file in contents.items()
        }
        for path in previous.keys() - contents.keys():
            if elsewhere.isdisjoint(parents(path)):
                kinds[path] = _left_over(f"{directory}/{path}", previous[path])
    except OSError as err:
        raise ClustergenError(f"{err.filename or directory}: {reason_of(err)}") from None
    return [Difference(path, kind) for path, kind in sorted(kinds.items()) if kind]


def _kind(path: str, content: bytes, mode: int) -> str:
    try:
        with regular_file.opened(path) as (descriptor, status):
            if status.st_size != len(content) or regular_file.content_of(descriptor, len(content), path) != content:
                return "changed"
            return "" if bool(status.st_mode & 0o100) == bool(mode & 0o100) else "mode"
    except (FileNotFoundError, NotADirectoryError):
        return "missing"
    except regular_file.NotRegularError:
        return "blocked"


def _left_over(path: str, digest: str) -> str:
    try:
        return "left-over" if sha256(regular_file.read(path, FILE_LIMIT)).hexdigest() == digest else "kept"
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except regular_file.NotRegularError:
        return "" if os.path.isdir(path) else "kept"  # noqa: PTH112 - a plain string
    except OSError as err:
        if err.errno == errno.EFBIG:
            return "kept"
        raise
