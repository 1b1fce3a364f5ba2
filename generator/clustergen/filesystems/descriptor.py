"""Facts on a kind of file system that every stage may use: plain data."""

from __future__ import annotations

from typing import Literal

from clustergen.manifest.mount import Mount
from clustergen.records import record


@record
class Unread:
    """Files of the tree that no program can read here: what they are, who would read them, and why not."""

    name: str
    what: str
    parser: str
    why: str
    patterns: tuple[str, ...]


@record
class FileSystem:
    """A kind of file system. Packages are purposes, which the files of `operating_systems/` turn into packages."""

    kind: str
    model: type[Mount]
    client_group: str = ""  # of all nodes that mount one; empty: there is none
    server_group: str = ""  # of all servers of one; empty: servers are not rendered
    quotas: Literal["", "client", "server"] = ""  # where the entry's `quotas` are set; empty: it has none
    is_shared: bool = True  # all clients see the same files
    ready_unit: str = ""  # unit with {name} that is active while an entry is mounted, where its own daemon mounts it
    packages: tuple[str, ...] = ()  # on the client group
    paths: tuple[str, ...] = ()  # files by which a client is known that comes neither as a package nor from the tree
    monitored_units: tuple[str, ...] = ()  # regular expressions: units whose failure is an alert
    unread: tuple[Unread, ...] = ()
    lab_units: tuple[str, ...] = ()  # patterns of what a container cannot run, install or read
    lab_packages: tuple[str, ...] = ()
    lab_files: tuple[str, ...] = ()
