"""Directories that every node has: whose they are, how long files last in them, what may be mounted there."""

from __future__ import annotations

from functools import cache
from posixpath import normpath
from typing import Literal

from clustergen.catalogue.tables import keyed
from clustergen.records import record, replace

_LINKS = (("/var/run", "/run"), ("/var/lock", "/run/lock"))
"""Link → directory, on every system of the catalogue."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where root finds programs, on every system of the catalogue."""
OF_PACKAGES = ("/bin", "/sbin", "/usr/bin", "/usr/sbin")
"""Directories whose programs come from packages."""
_LOST = "lost+found"
"""In every file system, where fsck puts what it finds."""


@record
class SystemPath:
    """One directory. The table's head says what its words mean."""

    path: str
    kind: Literal["kernel", "system", "service", "shared", "runtime", "memory", "temporary"]
    mount: Literal["any", "disk", "never"]
    mount_below: Literal["any", "disk", "never"]
    users: bool
    """True: users can create files there, or in directories of their own."""
    note: str = ""


system_paths = keyed("system_paths.tsv", SystemPath, lambda row: row.path)
"""All of them by path."""


def plain(path: str) -> str:
    """An absolute path without `//`, `.`, `..` and a last `/`, and without the links below /var."""
    place = "/" + normpath(path).lstrip("/")
    for link, target in _LINKS:
        if is_below(place, link):
            return target + place.removeprefix(link)
    return place


def is_below(path: str, directory: str) -> bool:
    """True if an absolute path is a directory, or lies below it."""
    return f"{path}/".startswith(f"{directory.rstrip('/')}/")


def nearest(path: str) -> SystemPath:
    """The row of an absolute path, or of the nearest directory above it that has one; `/` has one."""
    rows, place = system_paths(), plain(path)
    above, lost, _ = f"{place}/".partition(f"/{_LOST}/")
    if lost:
        return replace(rows[f"/{_LOST}"], path=f"{above}/{_LOST}")
    parts = place.split("/", _deepest() + 1)[1 : _deepest() + 1]  # of a path of any length
    prefixes = ("/" + "/".join(parts[:depth]) for depth in range(len(parts), -1, -1))
    return next(rows[prefix] for prefix in prefixes if prefix in rows)


@cache
def _deepest() -> int:
    return max(path.count("/") for path in system_paths())


def is_listed(path: str) -> bool:
    """True if the path itself is one of these directories."""
    return plain(path) in system_paths()


def mountable(path: str) -> Literal["any", "disk", "never"]:
    """The kind of mount that is allowed at a path."""
    row = nearest(path)
    return row.mount if row.path == plain(path) else row.mount_below
