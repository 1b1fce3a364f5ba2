"""Putting a tree on disk: all of it or nothing, and never a file that is not ours.

The new tree is written beside the old one and the two folders are exchanged in one system call; where the kernel or
file system cannot, by two renames. Files that an earlier render did not write are linked over into the new folder.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from clustergen.diagnostics import ClustergenError
from clustergen.records import record
from clustergen.render.tree import LOCK, Tree

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@record
class Difference:
    """A path of the tree that is not as rendered. `kind`: missing, changed, mode, or left-over (ours, made no more)."""

    path: str
    kind: str


def _owned(folder: Path) -> set[str]:
    """Paths that the lock file of a folder names, and the lock file itself."""
    try:
        entries = json.loads((folder / LOCK).read_bytes())["files"]
        return {path for path in entries if _inside(path)} | {LOCK}
    except FileNotFoundError:
        return set()
    except (OSError, ValueError, KeyError, TypeError) as err:
        raise ClustergenError(
            f"{folder / LOCK} cannot be read, so nobody knows which files here are clustergen's: {err}",
            hint="restore it from git, or remove the folder, and render again",
        ) from None


def _inside(path: str) -> bool:
    return not path.startswith("/") and ".." not in path.split("/") and path != ""


def differences(tree: Tree, folder: Path) -> list[Difference]:
    """What would change on disk."""
    contents = tree.contents()
    found = []
    for path, (content, mode) in contents.items():
        place = folder / path
        try:
            with place.open("rb") as stream:
                same = stream.read() == content
                executable = bool(os.fstat(stream.fileno()).st_mode & 0o100)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            found.append(Difference(path, "missing"))
            continue
        except OSError as err:
            raise ClustergenError(f"{place}: {err.strerror}") from None
        if not same:
            found.append(Difference(path, "changed"))
        elif executable != bool(mode & 0o100):
            found.append(Difference(path, "mode"))
    found += [Difference(path, "left-over") for path in _owned(folder) - contents.keys() if (folder / path).is_file()]
    return sorted(found, key=lambda difference: difference.path)


def _walk(folder: Path, prefix: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield prefix + entry.name, entry
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(Path(entry.path), f"{prefix}{entry.name}/")


def _link_over(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink():
        target.symlink_to(source.readlink())
        return
    try:
        target.hardlink_to(source)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target)


def _carry_foreign(old: Path, new: Path, owned: set[str], contents: dict[str, tuple[bytes, int]]) -> None:
    """Everything in the old folder that is not ours goes along; a clash with a path of ours ends the render."""
    folders = {parent for path in contents for parent in _parents(path)}
    for path, entry in _walk(old):
        if entry.is_dir(follow_symlinks=False):
            if not os.listdir(entry.path) and path not in contents:  # noqa: PTH208 - no iterator to be closed
                (new / path).mkdir(parents=True, exist_ok=True)
        elif path not in owned:
            if path in contents or path in folders or any(parent in contents for parent in _parents(path)):
                raise _clash(old / path)
            _link_over(Path(entry.path), new / path)


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _clash(place: Path) -> ClustergenError:
    return ClustergenError(
        f"{place} was not made by clustergen and stands where a file of the tree has to go",
        hint="move it away; a site's own files belong in site/<group>/… beside the manifest",
    )


def _exchange(one: Path, two: Path) -> bool:
    """Both names change places in one step; False where that cannot be had."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(two), _RENAME_EXCHANGE) == 0:
        return True
    if ctypes.get_errno() in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(two))


def write(tree: Tree, folder: Path) -> list[Difference]:
    """Makes the folder hold the tree; what changed. On any failure the folder is as it was.

    Raises ClustergenError (exit code 3) where the folder cannot be written, or a foreign file stands in our place.
    """
    folder = Path(os.path.realpath(folder))
    if folder.exists() and not folder.is_dir():
        raise ClustergenError(f"{folder} is not a folder", hint="name another output with -o")
    changed = differences(tree, folder)
    if not changed:
        return []
    contents = tree.contents()
    owned = _owned(folder)
    staging: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(folder)
        staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.new-", dir=folder.parent))
        made: set[str] = set()
        for path, (content, mode) in contents.items():
            place = staging / path
            parent = os.path.dirname(path)  # noqa: PTH120 - a plain string is many times faster here
            if parent not in made:
                place.parent.mkdir(parents=True, exist_ok=True)
                made.add(parent)
            descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            try:
                os.write(descriptor, content) if len(content) < 1 << 20 else _write_all(descriptor, content)
            finally:
                os.close(descriptor)
        if folder.is_dir():
            _carry_foreign(folder, staging, owned, contents)
            shutil.copymode(folder, staging)
            if not _exchange(staging, folder):
                aside = staging.with_name(staging.name.replace(".new-", ".old-"))
                folder.rename(aside)
                staging.rename(folder)
                staging = aside
        else:
            staging.chmod(0o755 & ~_umask())
            staging.rename(folder)
            staging = None
    except OSError as err:
        raise ClustergenError(f"{err.filename or folder}: {err.strerror}") from None
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
    return changed


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _remove_stale(folder: Path) -> None:
    """What a killed render left beside the folder; it never was the tree."""
    for left in folder.parent.glob(f".{folder.name}.new-*"):
        shutil.rmtree(left, ignore_errors=True)
