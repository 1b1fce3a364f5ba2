"""Facts on a kind of file system that every stage may use: plain data, and functions of the manifest's entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from clustergen.catalogue.network import ports
from clustergen.diagnostics import ManifestPath
from clustergen.manifest.mount import Mount
from clustergen.records import record

Scope = Literal["mount", "export", "serve"]
"""Of an entry: the nodes that mount it, the node that exports it by NFS, or the servers of its targets."""


@record
class SecretFile:
    """A file of root's with a secret that the site gives."""

    path: str
    mode: str


@record
class Listening:
    """Ports on which the nodes of an entry listen, for the firewall. Packets of RDMA do not pass it.

    `ports` is a number or a range; `networks` have to reach it in addition to those of the manifest's `networks`.
    """

    scope: Scope
    service: str
    ports: str
    protocols: tuple[str, ...]
    networks: tuple[str, ...] = ()


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
    mount_type: Callable[[Any], str] = lambda entry: str(entry.type)  # of an entry, for mount(8) and its options
    sources: Callable[[Any], Iterable[str]] = lambda _: ()  # what clients of an entry mount: servers, as they name them
    client_group: str = ""  # of all nodes that mount one; empty: there is none
    server_group: str = ""  # of all servers of one; empty: servers are not rendered
    servers: Callable[[Any], Iterable[str]] = lambda _: ()  # hosts of an entry on which targets are created
    devices: Callable[[Any], Iterable[str]] = lambda _: ()  # disks of an entry, as it names them
    quotas: Literal["", "client", "server"] = ""  # where the entry's `quotas` are set; empty: it has none
    is_shared: bool = True  # all clients see the same files
    ready_unit: str = ""  # unit with {name} that is active while an entry is mounted, where its own daemon mounts it
    manual_steps: Callable[[str, Any, str], Iterable[str]] = lambda _, __, ___: ()  # of an entry, with its clients
    packages: tuple[str, ...] = ()  # on the client group
    entry_packages: Callable[[Any], Iterable[tuple[Scope, str]]] = lambda _: ()
    paths: tuple[str, ...] = ()  # files by which a client is known that comes neither as a package nor from the tree
    secret: Callable[[Mapping[str, Any], str], SecretFile | None] = lambda _, __: None  # of an entry of the manifest
    server_secrets: Callable[[Any], Iterable[tuple[str, SecretFile]]] = lambda _: ()  # given ones of servers, by name
    listening: Callable[[Mapping[str, Any], str], Iterable[Listening]] = lambda _, __: ()  # of an entry of the manifest
    interfaces: Callable[[Any], Iterable[tuple[ManifestPath, str]]] = lambda _: ()  # that an entry names, with the path
    monitored_units: tuple[str, ...] = ()  # regular expressions: units whose failure is an alert
    unread: tuple[Unread, ...] = ()
    lab_mounts: Callable[[Any], bool] = lambda _: False  # whether a container can mount an entry
    lab_units: tuple[str, ...] = ()  # patterns of what a container cannot run, install or read
    lab_packages: tuple[str, ...] = ()
    lab_files: tuple[str, ...] = ()


def catalogued_ports(*services: tuple[Scope, str]) -> Callable[[Mapping[str, Any], str], Iterator[Listening]]:
    """Ports that no field of the manifest changes, by their names in the catalogue."""

    def listening(_: Mapping[str, Any], __: str) -> Iterator[Listening]:
        for scope, name in services:
            row = ports()[name]
            yield Listening(scope, name, row.span, row.protocols)

    return listening


def listed_interfaces(entry: Any) -> Iterator[tuple[ManifestPath, str]]:
    """The interfaces of an entry that has a list of them."""
    for index, name in enumerate(entry.interfaces):
        yield ("interfaces", index), name
