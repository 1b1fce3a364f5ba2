"""Where a render prepares its changes, inside the output directory, and the journal that completes them.

    .clustergen-render.owner         a symbolic link whose target is text: the process that writes here
    .clustergen-render/.gitignore    no commit should contain the rest
    .clustergen-render/new/0, 1 …    files to be put in place
    .clustergen-render/old/0, 1 …    files that they replace, or that are removed
    .clustergen-render/journal.json  which file goes where; from the moment that it has this name, the new tree counts

A process that ends before that moment has changed nothing. One that ends after it leaves the journal, and the next
render completes it first. The lock of `access` holds off the processes of one machine. Those of others, on a network
file system, see the owner's link, which can be created once. All functions but `is_pending` and `holder` expect the
caller to hold `access.writing`.

A commit can contain all of these names, the link included. The directory's sticky bit tells a journal of a render from
one that a checkout wrote: git stores no modes of directories, and no umask adds the bit.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from clustergen.diagnostics import ClustergenError
from clustergen.regular_file import reason_of
from clustergen.render.journal import Journal, apply, undo
from clustergen.render.tree import LOCK, STAGING

_JOURNAL, _UNFINISHED, _IGNORE = "journal.json", "journal.new", ".gitignore"
_NAMES = {_JOURNAL, _UNFINISHED, _IGNORE, "new", "old"}
_MODE = 0o1755


def is_pending(directory: Path) -> bool:
    """True if a render was ended between its first change and its last one."""
    return os.path.lexists(directory / STAGING / _JOURNAL)


def holder(directory: Path) -> str:
    """The process that writes to a directory, in words."""
    owner = _owner(directory)
    if owner is None:
        return "another process"
    return "`{command}` (process {pid} on {host}, since {since})".format_map(owner)


def recover(directory: Path) -> None:
    """Completes or discards what an ended render left. Raises ClustergenError (exit code 3) where its process may still
    run on another machine, or where a foreign file or a journal of a commit is in the place of the staging directory.
    """
    place, link = directory / STAGING, _link(directory)
    if not os.path.lexists(place) and not os.path.lexists(link):
        return
    owner = _owner(directory)
    for name, is_ours in ((place, _is_ours(place)), (link, owner is not None or not os.path.lexists(link))):
        if not is_ours:
            message = f"{name} was not made by clustergen, which prepares its files under this name"
            raise ClustergenError(message, hint="move it away")
    if owner is not None and owner["boot"] != _boot() and owner["host"] != os.uname().nodename:
        raise _in_use(directory)
    if is_pending(directory):
        if not place.stat().st_mode & stat.S_ISVTX:
            raise ClustergenError(
                f"{place} was not left by a render of this directory: it comes from a commit or a copy",
                hint=f"remove it (`git rm -r {place}` if git tracks it) and render again",
            )
        try:
            finish(directory, Journal.read(place / _JOURNAL))
        except (OSError, ClustergenError):
            if is_pending(directory):  # otherwise the tree before that render is back, which is as good
                raise
    else:
        discard(directory)


def _is_ours(place: Path) -> bool:
    if not os.path.lexists(place):
        return True
    if place.is_symlink() or not place.is_dir():
        return False
    for entry in place.iterdir():
        if entry.name not in _NAMES or entry.is_symlink():
            return False
        if entry.is_dir() and not all(_is_staged(file) for file in entry.iterdir()):
            return False
    return True


def _is_staged(entry: Path) -> bool:
    """`0`, and `r0` of a file that the journal removes."""
    return entry.name.removeprefix("r").isdecimal() and entry.is_file() and not entry.is_symlink()


def _in_use(directory: Path) -> ClustergenError:
    return ClustergenError(
        f"{directory} is in use by {holder(directory)}",
        hint=f"render there, or, if that process has ended, remove {_link(directory)} and render again",
    )


def stage(directory: Path, journal: Journal, contents: Sequence[tuple[bytes, int]]) -> None:
    """Writes files with their modes, in the order of `journal.place`, then the journal: now the new tree counts.

    Only the journal and the lock file are synced, as the wait for each is long on a busy disk. After a power failure
    other files can be incomplete: the hashes of the lock file show it, and a render repairs it.
    """
    try:
        _link(directory).symlink_to(_me())
    except FileExistsError:
        raise _in_use(directory) from None
    except OSError as err:  # a file system without symbolic links: the owner has no name
        if err.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
    try:
        _fill(directory / STAGING, journal, contents)
        (directory / STAGING / _UNFINISHED).rename(directory / STAGING / _JOURNAL)
    except BaseException:
        discard(directory)
        raise


def _fill(place: Path, journal: Journal, contents: Sequence[tuple[bytes, int]]) -> None:
    place.mkdir(_MODE)
    _write(f"{place}/{_IGNORE}", b"*\n", 0o644, sync=False)
    for name in ("new", "old"):
        (place / name).mkdir()
    for number, (content, mode) in enumerate(contents):
        is_lock = journal.place[number][0] == LOCK
        _write(f"{place}/new/{number}", content, mode, sync=is_lock)
    _write(f"{place}/{_UNFINISHED}", journal.encoded(), 0o644, sync=True)


def _write(path: str, content: bytes, mode: int, sync: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def finish(directory: Path, journal: Journal) -> None:
    """Puts the files in place; where one cannot be, all others go back. Raises ClustergenError (exit code 3)."""
    place = directory / STAGING
    try:
        apply(directory, place, journal)
        (place / _JOURNAL).unlink()
    except BaseException as err:
        if not is_pending(directory):  # interrupted after the last step
            discard(directory)
            raise
        try:
            undo(directory, place, journal)
        except (OSError, ClustergenError) as second:
            raise ClustergenError(
                f"{directory}: {reason_of(err)}; files changed before that could not be restored: {reason_of(second)}",
                hint="remove the cause and render again: that completes it",
            ) from None
        discard(directory)
        raise
    discard(directory)


def discard(directory: Path) -> None:
    """Removes the staging directory; what cannot be removed is left to the next render."""
    place = directory / STAGING
    with suppress(OSError):
        (place / _JOURNAL).unlink(missing_ok=True)
        shutil.rmtree(place / "new", ignore_errors=True)
        shutil.rmtree(place / "old", ignore_errors=True)
        for name in (_UNFINISHED, _IGNORE):
            (place / name).unlink(missing_ok=True)
        if place.exists():
            place.rmdir()
        _link(directory).unlink(missing_ok=True)


def _boot() -> str:
    """The running kernel, which is what keeps the lock of a directory."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _me() -> str:
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])[:200]
    owner = {
        "pid": os.getpid(),
        "host": os.uname().nodename,
        "boot": _boot(),
        "since": time.strftime("%Y-%m-%d %H:%M:%S"),
        "command": "".join(character if character.isprintable() else "?" for character in command),
    }
    return json.dumps(owner)


def _link(directory: Path) -> Path:
    return directory / f"{STAGING}.owner"


def _owner(directory: Path) -> dict[str, Any] | None:
    """None where there is no owner, or one that clustergen did not write."""
    try:
        owner = json.loads(os.readlink(_link(directory)))  # noqa: PTH115 - text, not a path
    except (OSError, ValueError, RecursionError):
        return None
    keys = {"pid", "host", "boot", "since", "command"}
    if not isinstance(owner, dict) or owner.keys() != keys:
        return None
    plain = all(isinstance(value, str) and value.isprintable() for key, value in owner.items() if key != "pid")
    return owner if plain and type(owner["pid"]) is int else None
