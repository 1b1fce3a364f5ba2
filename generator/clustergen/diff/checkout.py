"""Extracts files of a commit, whose author may be hostile: nothing outside the directory is written or linked to.

Only what is extracted is judged: an entry elsewhere in the repository does not prevent a comparison.
"""

from __future__ import annotations

import os
import shlex
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path, PurePosixPath

from clustergen.diagnostics import ClustergenError, printable, quote, shortened
from clustergen.diff.git_objects import Objects, TreeEntry, UnreadableError
from clustergen.manifest.source import MAX_BYTES
from clustergen.records import record
from clustergen.regular_file import reason_of
from clustergen.render.lock_file import is_gits_directory
from clustergen.render.tree import RENDERED

_MOST_ENTRIES = 100_000
_DEEPEST = 64
_LONGEST_PATH = 1024  # characters
_LARGEST = 1 << 30  # bytes of all files together
_LONGEST_SHOWN = 200  # characters of a path in a message
_LONGEST_LINK = 4095  # bytes; PATH_MAX without its NUL
_LONGEST_NAME = 255  # bytes
_WITHOUT = "compare a commit without this entry, or name a file or directory of this one that does not contain it"

DIRECTORY, LINK, MODULE = 0o040000, 0o120000, 0o160000
_FILES = {0o100644: 0o644, 0o100664: 0o644, 0o100755: 0o755}  # 664: of git before 1.0
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@record
class Item:
    """A file, a link or a directory of the commit, at its path from the top.

    `text` is that of a link, `leads_to` the path from the top that it means.
    """

    path: str
    mode: int
    sha: str
    text: str = ""
    leads_to: str = ""


class Commit:
    """The files of one commit. Errors name the commit, the entry and the reason, and are raised before any write."""

    def __init__(self, objects: Objects, commit: str, called: str, hint: Callable[[str], str]) -> None:
        """`called`: the user's word for what is read. `hint`: what to do about a path whose object git lacks."""
        self._objects = objects
        self._commit = commit
        self._called = called
        self._hint = hint
        self._listings: dict[str, dict[str, list[TreeEntry]]] = {}
        self._parsed = self._extracted = 0
        header = self._text(Item("", DIRECTORY, commit), "commit", _LARGEST)
        self._top = Item("", DIRECTORY, header.partition("\n")[0].removeprefix("tree "))

    def item(self, path: str) -> Item | None:
        """The commit's entry at a path; the link or submodule that leads there; None where it has nothing."""
        item = self._top
        for name in path.split("/") if path else ():
            if item.mode in (LINK, MODULE):
                break
            if item.mode != DIRECTORY:
                return None
            entries = self._listing(item).get(name)
            if entries is None:
                return None
            item = self._only(item, entries)
        return item

    def names(self, item: Item) -> list[str]:
        """Of the files in a directory. They are not judged: `item` does that for the one that is extracted."""
        return [name for name, entries in self._listing(item).items() if entries[0].mode in _FILES]

    def files(self, paths: list[str]) -> dict[str, Item]:
        """All files and links at and below these paths, and those to which the links lead, by path."""
        items: dict[str, Item] = {}
        pending = [item for path in paths if (item := self.item(path))]
        while pending:
            item = pending.pop()
            if item.path in items:
                continue
            items[item.path] = item
            if item.mode == DIRECTORY:
                entries = self._listing(item).values()
                # Few directories, each listed in others many times, are a large tree as well.
                self._extracted = self._bounded(self._extracted + len(entries))
                pending += [self._only(item, same_name) for same_name in entries]
            elif item.mode == MODULE:
                raise self._refusal(
                    item.path, "is a submodule, whose files are in a repository of its own", self._trees
                )
            # A directory that the link itself is in would bring in all the rest of the commit.
            elif item.mode == LINK and not item.path.startswith(f"{item.leads_to}/" if item.leads_to else ""):
                pending += [target] if (target := self.item(item.leads_to)) else []
        return {path: item for path, item in sorted(items.items()) if item.mode != DIRECTORY}

    def text(self, item: Item) -> str:
        """The content of a file; empty where it is larger than a manifest can be."""
        with self._readable(item):
            too_large = next(self._objects.sizes("blob", [item.sha])) > MAX_BYTES
        return "" if too_large or item.mode == LINK else self._text(item, "blob", MAX_BYTES)

    def write(self, items: Mapping[str, Item], into: Path) -> None:
        """Writes files and links below an empty directory. Raises ClustergenError."""
        files = [item for item in items.values() if item.mode != LINK]
        sizes = self._objects.sizes("blob", [item.sha for item in files])
        total = 0
        for item in files:
            with self._readable(item):
                total += next(sizes)
            if total > _LARGEST:
                raise self._too_much(f"files of more than {_LARGEST >> 30} GiB")
        contents = self._objects.contents("blob", [item.sha for item in files])
        top = os.open(into, _DIRECTORY)
        try:
            for directory, inside in groupby(items.values(), lambda item: item.path.rpartition("/")[0]):
                with _opened(top, directory) as descriptor:
                    for item in inside:
                        self._write(item, contents, descriptor)
        except OSError as err:
            raise ClustergenError(f"{self._called}: cannot be extracted: {reason_of(err)}") from None
        finally:
            os.close(top)

    def _write(self, item: Item, contents: Iterator[Iterator[bytes]], directory: int) -> None:
        name = item.path.rpartition("/")[2]
        if item.mode == LINK:
            os.symlink(item.text, name, dir_fd=directory)
            return
        descriptor = os.open(name, _FILE, 0o600, dir_fd=directory)
        with os.fdopen(descriptor, "wb") as stream, self._readable(item):
            for piece in next(contents):
                stream.write(piece)
            os.fchmod(descriptor, _FILES[item.mode])

    @contextmanager
    def _readable(self, item: Item) -> Iterator[None]:
        try:
            yield
        except UnreadableError:
            name = printable(item.path) or "the root directory"
            if seconds := self._objects.exceeded:
                raise ClustergenError(
                    f"git cannot read {name} of this commit within {seconds} s",
                    'remove what `find "$(git rev-parse --git-path objects)" ! -type d ! -type f` lists, and run `git'
                    " fetch`. If it lists nothing, the file system is slow: clone the repository to a local disk",
                ) from None
            raise ClustergenError(f"git cannot read {name} of this commit", self._hint(item.path)) from None

    def _text(self, item: Item, kind: str, limit: int) -> str:
        with self._readable(item):
            return self._objects.whole(item.sha, kind, limit).decode("utf-8", "surrogateescape")

    def _listing(self, item: Item) -> dict[str, list[TreeEntry]]:
        """The entries of a directory by name."""
        listing = self._listings.get(item.sha)
        if listing is None:
            listing = self._listings[item.sha] = {}
            with self._readable(item):
                for entry in self._objects.directory(item.sha):
                    self._parsed = self._bounded(self._parsed + 1)
                    listing.setdefault(entry.name, []).append(entry)
        return listing

    def _bounded(self, count: int) -> int:
        if count > _MOST_ENTRIES:
            raise self._too_much(f"more than {_MOST_ENTRIES:,} entries")
        return count

    def _only(self, directory: Item, entries: list[TreeEntry]) -> Item:
        """The one entry of a name."""
        item = self._checked(directory, entries[0])
        if len(entries) > 1:
            raise self._refusal(item.path, "is listed twice in its directory")
        return item

    def _checked(self, directory: Item, entry: TreeEntry) -> Item:
        path = f"{directory.path}/{entry.name}" if directory.path else entry.name
        if len(path) > _LONGEST_PATH or path.count("/") >= _DEEPEST:
            limits = f"{_LONGEST_PATH:,} characters and {_DEEPEST} directories"
            raise self._refusal(path, f"has a longer path than {limits}")
        if reason := _wrong_name(entry.name):
            raise self._refusal(path, reason)
        if entry.mode == LINK:
            return self._checked_link(Item(path, LINK, entry.sha))
        if entry.mode not in (DIRECTORY, MODULE, *_FILES):
            raise self._refusal(
                path,
                f"has the mode {entry.mode:06o}, which is no file (100644), executable (100755), link or directory",
            )
        return Item(path, entry.mode, entry.sha)

    def _checked_link(self, item: Item) -> Item:
        """With the path to which it leads. Behind a name, which may be a link, `..` could mean any directory."""
        target = self._text(item, "blob", _LONGEST_LINK)
        if not target or "\0" in target:
            raise self._refusal(item.path, "is a link without a valid target")
        parts = PurePosixPath(target).parts
        if len(target) > _LONGEST_PATH or any(map(_is_long, parts)):
            limits = f"{_LONGEST_PATH:,} characters, or with a name of more than {_LONGEST_NAME} bytes"
            raise self._refusal(item.path, f"is a link to a path of more than {limits}")
        ups = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
        above = item.path.split("/")[:-1]
        if target.startswith("/") or ups > len(above):
            reason = f"is a link to {quote(target)}, outside the repository"
            raise self._refusal(item.path, reason, self._trees)
        if ".." in parts[ups:]:
            raise self._refusal(item.path, f"is a link to {quote(target)}, with .. behind a name")
        return Item(item.path, LINK, item.sha, target, "/".join([*above[: len(above) - ups], *parts[ups:]]))

    @property
    def _trees(self) -> str:
        """The hint for what a render may read and a commit does not contain."""
        revision, _, path = self._called.partition(":")
        place = PurePosixPath(path)
        tree = (place.parent if place.suffix else place) / RENDERED
        return f"compare the rendered trees: clustergen diff {shlex.quote(f'{revision}:{tree}')} {RENDERED}"

    def _refusal(self, path: str, reason: str, hint: str = _WITHOUT) -> ClustergenError:
        entry = shortened(printable(path), _LONGEST_SHOWN)
        message = f"{self._called}: commit {self._commit[:12]} cannot be extracted: {entry} {reason}"
        return ClustergenError(message, hint)

    def _too_much(self, what: str) -> ClustergenError:
        return ClustergenError(
            f"{self._called}: {what} in commit {self._commit[:12]}",
            "name a smaller directory, or the manifest of one cluster",
        )


def _wrong_name(name: str) -> str | None:
    """Why no file is created under this name; None where it is a name as git accepts it."""
    if name in ("", ".", ".."):
        return f"is named {quote(name)}, which is not the name of a file"
    if "/" in name:
        return "has a slash in its name, so it could be written anywhere"
    if any(unicodedata.category(char) == "Cc" for char in name):
        return "has a control character in its name"
    if _is_long(name):
        return f"has a name of more than {_LONGEST_NAME} bytes"
    if is_gits_directory(name):
        return "has the name of git's own directory"
    return None


def _is_long(name: str) -> bool:
    return len(name.encode("utf-8", "surrogateescape")) > _LONGEST_NAME


@contextmanager
def _opened(top: int, path: str) -> Iterator[int]:
    """The descriptor of a directory below another one, which is created and reached through no link."""
    descriptor = os.dup(top)
    try:
        for name in path.split("/") if path else ():
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=descriptor)
            inner = os.open(name, _DIRECTORY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)
