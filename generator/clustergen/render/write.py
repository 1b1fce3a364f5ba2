"""Putting a tree on disk: the old one or the new one, and no file that is not clustergen's is touched.

Changed files are prepared inside the output directory (`staging`) and moved into place by a journal (`journal`), under
a lock (`access`).
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from clustergen import regular_file
from clustergen.diagnostics import ClustergenError, printable
from clustergen.regular_file import reason_of
from clustergen.render import staging
from clustergen.render.access import WAIT, writing
from clustergen.render.compare import Contents, Difference, compare
from clustergen.render.journal import Journal, misplaced, parents
from clustergen.render.lock_file import is_rendered, owned, without_lock
from clustergen.render.tree import FILE_LIMIT, LOCK, LOCK_LIMIT, README, RENDERED, STAGING, Tree


def default_output(manifest: Path) -> Path:
    """rendered/ beside the manifest. Raises ClustergenError where it is a link, as a commit may contain one, that leads
    out of the manifest's directory.
    """
    directory = manifest.parent / RENDERED
    actual, beside = Path(os.path.realpath(directory)), Path(os.path.realpath(manifest.parent))
    if actual == beside or not actual.is_relative_to(beside):
        raise ClustergenError(
            f"{directory} is a link to {printable(str(directory.readlink()))}, outside the directory of the manifest",
            "remove the link; to write to another directory, name it: clustergen render -o DIRECTORY",
        )
    return directory


def write(tree: Tree, directory: Path, wait: float = WAIT) -> list[Difference]:
    """Makes the directory hold the tree, and returns what changed. On any failure the directory is as before.

    Raises ClustergenError (exit code 3) where the directory cannot be written, where something that clustergen did not
    write is in the place of a file, and where another process uses the directory for more than `wait` seconds.
    """
    directory = Path(os.path.realpath(directory))
    contents = tree.contents()
    if len(contents[LOCK][0]) > LOCK_LIMIT:
        raise ClustergenError(f"{LOCK} would be larger than {LOCK_LIMIT:,} bytes: {len(contents):,} files are too many")
    created = False
    try:
        created = _make(directory)
        with writing(directory, wait):
            staging.recover(directory)
            return _write(contents, directory)
    except (OSError, ClustergenError) as err:
        if created:
            with suppress(OSError):  # not empty
                directory.rmdir()
        if isinstance(err, ClustergenError):
            raise
        place = str(err.filename2 or err.filename or directory)
        raise ClustergenError(f"{directory if STAGING in place else place}: {reason_of(err)}") from None


def _make(directory: Path) -> bool:
    """True if the directory is new."""
    if directory.is_dir():
        return False
    if os.path.lexists(directory):
        directory.stat()  # a loop of links
        raise ClustergenError(f"{directory} is not a directory", hint="name another output with -o")
    directory.mkdir(parents=True, exist_ok=True)
    return True


def _write(contents: Contents, directory: Path) -> list[Difference]:
    previous = owned(directory)
    changes = compare(contents, directory, previous)
    if changes:
        journal = _journal(contents, directory, previous, changes)
        staging.stage(directory, journal, [contents[path] for path, *_ in journal.place])
        staging.finish(directory, journal)
    return changes


def _journal(contents: Contents, directory: Path, previous: dict[str, str], changes: list[Difference]) -> Journal:
    """Raises ClustergenError where something that clustergen did not write is in the place of a file."""
    removed = {change.path: previous[change.path] for change in changes if change.kind == "left-over"}
    kinds = {change.path: change.kind for change in changes if change.path in contents}
    needed = {parent for path in kinds for parent in parents(path)}
    emptied = {parent for path in removed for parent in parents(path)} - needed
    for parent, what in misplaced(directory, kinds).items():
        if parent not in removed:
            raise _clash(directory / parent, what)
    place: list[tuple[str, str | None, str]] = []
    for path, kind in kinds.items():
        before = None if path in emptied and _is_emptied(directory, path, removed, emptied) else _hash(directory / path)
        if before is not None and path != LOCK and path not in previous and kind != "mode":
            is_lost = not previous and is_rendered(directory / README)
            raise without_lock(directory) if is_lost else _clash(directory / path)
        place.append((path, before, sha256(contents[path][0]).hexdigest()))
    place.sort(key=lambda entry: (entry[0] == LOCK, entry[0]))  # the lock file last
    make = [path for path in sorted(needed) if path in removed or not (directory / path).is_dir()]
    return Journal(sorted(removed.items()), sorted(emptied, reverse=True), make, place)


def _hash(place: Path) -> str | None:
    """None where nothing is in this place."""
    try:
        return sha256(regular_file.read(place, FILE_LIMIT)).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except regular_file.NotRegularError as err:
        raise _clash(place, reason_of(err)) from None


def _is_emptied(directory: Path, path: str, removed: dict[str, str], emptied: set[str]) -> bool:
    """True if nothing is left in a directory without the files that are removed."""
    with os.scandir(directory / path) as entries:
        inside = {f"{path}/{entry.name}": entry.is_dir(follow_symlinks=False) for entry in entries}
    return all(
        name in emptied and _is_emptied(directory, name, removed, emptied) if is_directory else name in removed
        for name, is_directory in inside.items()
    )


def _clash(place: Path, what: str = "") -> ClustergenError:
    return ClustergenError(
        f"{place} was not made by clustergen and is in the way of the tree" + (f": {what}" if what else ""),
        hint="move it away; your own files belong in site/<group>/… beside the manifest",
    )
