"""Facts on a kind of file system that every stage may use: plain data, `FILE_SYSTEM` of the kind's `resolved`."""

from __future__ import annotations

from functools import cache

from clustergen.feature import Attributed, modules
from clustergen.records import record


@record
class FileSystem:
    """A kind of file system. Packages are purposes, which the files of `operating_systems/` turn into packages."""

    kind: str
    client_group: str = ""  # of all nodes that mount one; empty: there is none
    server_group: str = ""  # of all servers of one; empty: servers are not rendered
    ready_unit: str = ""  # unit with {name} that is active while an entry is mounted, where its own daemon mounts it
    packages: tuple[str, ...] = ()  # on the client group
    repositories: tuple[str, ...] = ()  # of these packages, without a public address
    has_releases: bool = False  # whether `version` of an entry is that of its packages, under the same names
    paths: tuple[str, ...] = ()  # files by which a client is known that comes neither as a package nor from the tree
    monitored_units: tuple[str, ...] = ()  # regular expressions: units whose failure is an alert
    lab_units: tuple[str, ...] = ()  # patterns of what a container cannot run, install or read
    lab_packages: tuple[str, ...] = ()
    lab_files: tuple[str, ...] = ()


@cache
def file_systems() -> tuple[FileSystem, ...]:
    """All kinds, in the order of the manifest's schema."""
    kinds = []
    for module in modules("resolved"):
        with Attributed(module.__name__):
            if not isinstance(kind := getattr(module, "FILE_SYSTEM", None), FileSystem | None):
                raise TypeError(f"FILE_SYSTEM is {kind!r}")
        if kind is not None:
            kinds.append(kind)
    return tuple(kinds)


def file_system(kind: str) -> FileSystem:
    return next(each for each in file_systems() if each.kind == kind)
