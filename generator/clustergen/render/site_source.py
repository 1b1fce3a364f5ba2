"""Reads the files of a site through descriptors: no link of a commit leads the reader out of `site/`."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from clustergen import regular_file
from clustergen.diagnostics import Diagnostic, Place, did_you_mean
from clustergen.records import record
from clustergen.regular_file import reason_of
from clustergen.render.lock_file import is_gits_directory

_LARGEST = 4 << 20  # bytes of a file
_LARGEST_SITE = 64 << 20
_MOST_ENTRIES = 20_000
_DEEPEST = 40
_NAME = re.compile(r"[A-Za-z0-9_.@+:,%~=-]+(/[A-Za-z0-9_.@+:,%~=-]+)*")
_KEEPER = ".gitkeep"  # how git is made to keep an empty directory
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@record
class Source:
    """A file of the site that can be used: its path below the directory of its group, and all files of the group."""

    place: Path
    group: str
    name: str
    files: Mapping[str, bytes]
    is_executable: bool

    @property
    def content(self) -> bytes:
        return self.files[self.name]

    @property
    def is_template(self) -> bool:
        return self.name.endswith(".j2")

    @property
    def target(self) -> str:
        """On the node, without the first slash."""
        return self.name.removesuffix(".j2")


class _LimitError(Exception):
    """The site has more than clustergen reads."""


def sources(directory: Path, groups: set[str]) -> Iterator[Source | Diagnostic]:
    """The files of all groups, and what is wrong with others; READMEs and dot files beside groups are left alone."""
    try:
        with _opened(directory) as descriptor:
            yield from _Reader(directory, descriptor).sources(groups)
    except FileNotFoundError:
        return
    except OSError as err:
        yield _unusable(directory, f"cannot use this directory: {reason_of(err)}", _hint(err))
    except _LimitError as err:
        yield _unusable(directory, str(err))


@contextmanager
def _opened(path: str | Path, parent: int | None = None) -> Iterator[int]:
    """The descriptor of a directory that is no link. Raises OSError."""
    mode = os.stat(path, dir_fd=parent, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        raise NotADirectoryError(0, "it is a link, and clustergen follows no links to directories")
    if not stat.S_ISDIR(mode):
        raise NotADirectoryError(0, "it is not a directory")
    descriptor = os.open(path, _DIRECTORY, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class _Reader:
    def __init__(self, directory: Path, top: int) -> None:
        self.directory = directory
        self.top = top
        self.entries = self.size = 0

    def sources(self, groups: set[str]) -> Iterator[Source | Diagnostic]:
        for name, is_directory in self._listed(self.top):
            place = self.directory / name
            if name.startswith((".", "README")):
                continue
            if not is_directory and name not in groups:
                yield Diagnostic.of(
                    "site-group-unknown",
                    Place(str(place)),
                    f"{name} is not in the directory of a group",
                    f"move it to site/GROUP/ with its path on the node, as {self.directory.name}/all/etc/{name}",
                )
            elif name not in groups:
                yield Diagnostic.of(
                    "site-group-unknown",
                    Place(str(place)),
                    f"no node is in group '{name}'",
                    did_you_mean(name, groups) or f"use one of {', '.join(sorted(groups))}",
                )
            else:
                yield from self._below(self.top, Path(name), {})

    def _listed(self, descriptor: int) -> list[tuple[str, bool]]:
        """Names in a directory, and whether each is one. Raises OSError for a submodule, which `diff` cannot read."""
        names = []
        with os.scandir(descriptor) as entries:
            for entry in entries:
                self.entries += 1
                if self.entries > _MOST_ENTRIES:
                    raise _LimitError(f"the site has more than {_MOST_ENTRIES:,} files and directories")
                if entry.name == ".git":
                    raise NotADirectoryError(0, "it is a submodule, whose files are in a repository of its own")
                names.append((entry.name, entry.is_dir(follow_symlinks=False)))
        return sorted(names)

    def _below(self, parent: int, path: Path, files: dict[str, bytes]) -> Iterator[Source | Diagnostic]:
        """The entries of a directory; `path` is below the site, and `files` are those of its group, which are added."""
        place = self.directory / path
        if len(path.parts) > _DEEPEST:
            yield _unusable(place, f"cannot use this directory: it is more than {_DEEPEST} directories deep")
            return
        try:
            with _opened(path.name, parent) as descriptor:
                listed = self._listed(descriptor)
                for name, is_directory in listed:
                    if not is_directory and name != _KEEPER:
                        yield self._source(descriptor, path / name, files)
                for name, is_directory in listed:
                    if is_directory:
                        yield from self._below(descriptor, path / name, files)
        except OSError as err:
            yield _unusable(place, f"cannot use this directory: {reason_of(err)}", _hint(err))

    def _source(self, parent: int, path: Path, files: dict[str, bytes]) -> Source | Diagnostic:
        place = self.directory / path
        if not _NAME.fullmatch(path.as_posix()):
            return _unreadable(
                place, "its name has blanks or other characters that not all files of a tree can contain"
            )
        if any(map(is_gits_directory, path.as_posix().removesuffix(".j2").split("/"))):
            return _unreadable(place, "it is in a directory named .git, which no tree contains")
        group, _, name = path.as_posix().partition("/")
        try:
            content, mode = self._read(parent, path)
        except OSError as err:
            return _unreadable(place, reason_of(err))
        self.size += len(content)
        if self.size > _LARGEST_SITE:
            raise _LimitError(f"the files of the site have more than {_LARGEST_SITE:,} bytes")
        files[name] = content
        return Source(place, group, name, files, bool(mode & 0o111))

    def _read(self, parent: int, path: Path) -> tuple[bytes, int]:
        """Content and mode of a file, or of the file of the site to which a link leads. Raises OSError."""
        if not stat.S_ISLNK(os.stat(path.name, dir_fd=parent, follow_symlinks=False).st_mode):
            return _read(path.name, parent)
        link = self.directory / path
        what = f"it is a link to {os.readlink(path.name, dir_fd=parent)}"
        site, target = (Path(os.path.realpath(one)) for one in (self.directory, link))
        if not target.is_relative_to(site):
            raise OSError(0, f"{what}, outside {self.directory.name}/")
        try:
            return _read_below(self.top, target.relative_to(site).parts or (".",))
        except FileNotFoundError:
            raise OSError(0, f"{what}, which does not exist") from None
        except OSError as err:
            raise OSError(0, f"{what}: {reason_of(err)}") from None


def _read(name: str, parent: int) -> tuple[bytes, int]:
    """Content and mode of a file by its name in an open directory. Raises OSError."""
    with regular_file.opened(name, parent=parent) as (descriptor, status):
        if status.st_size > _LARGEST:
            raise OSError(0, f"it has {status.st_size >> 20} MiB; the maximum is {_LARGEST >> 20}")
        return regular_file.content_of(descriptor, _LARGEST, name), status.st_mode


def _read_below(parent: int, parts: tuple[str, ...]) -> tuple[bytes, int]:
    """The same, by a path below an open directory in which no part is a link."""
    name, *rest = parts
    if not rest:
        return _read(name, parent)
    with _opened(name, parent) as descriptor:
        return _read_below(descriptor, tuple(rest))


def _unreadable(place: Path, why: str) -> Diagnostic:
    return _unusable(place, f"cannot use this file: {why}")


def _hint(error: OSError) -> str | None:
    return "put a directory with the files themselves in its place" if isinstance(error, NotADirectoryError) else None


def _unusable(place: Path, message: str, hint: str | None = None) -> Diagnostic:
    return Diagnostic.of("site-file-unreadable", Place(str(place)), message, hint)
