"""Contributions of file systems to files of others, kind by kind and entry by entry."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Daemon, NodePath, Package, Repository, Secret, range_of_ports
from clustergen.cluster.entry import SecretFile
from clustergen.cluster.exports import server_of
from clustergen.cluster.file_system import file_systems
from clustergen.cluster.groups import clients_of, entry_group, mount_group
from clustergen.cluster.model import Cluster
from clustergen.records import replace

AREA = "storage"


def storage_daemons(cluster: Cluster) -> Iterator[Daemon]:
    for name, entry in cluster.storage.items():
        for row in entry.listening(cluster.storage):
            daemon = range_of_ports(row.service, entry_group(row.scope, name), row.ports)
            yield replace(daemon, protocols=row.protocols, networks=row.networks)


def repositories(_: Cluster) -> Iterator[Repository]:
    for kind in file_systems():
        yield from map(Repository, kind.repositories)


def packages(cluster: Cluster) -> Iterator[Package]:
    for kind in file_systems():
        for purpose in kind.packages:
            yield Package(kind.client_group, purpose)
    for name, entry in cluster.storage.items():
        for scope, purpose in entry.packages:
            yield Package(entry_group(scope, name), purpose)


def paths(cluster: Cluster) -> Iterator[NodePath]:
    for kind in file_systems():
        for path in kind.paths:
            yield NodePath(kind.client_group, path)
    for name, entry in cluster.storage.items():
        if (exported := entry.exported()) and server_of(cluster, entry):
            yield NodePath(entry_group("export", name), exported.path)


def secrets(cluster: Cluster) -> Iterator[Secret]:
    for name, entry in cluster.storage.items():
        if (file := entry.secret) and clients_of(cluster, name):
            servers = (entry_group("serve", name),) if entry.server_hosts else ()
            yield Secret(name, file.path, (mount_group(name), *servers), owner="root", mode=file.mode, origin="given")
    yield from _secrets_of_servers(cluster)


def _secrets_of_servers(cluster: Cluster) -> Iterator[Secret]:
    """Each once, for the servers of all entries that have it."""
    groups: dict[tuple[str, SecretFile], list[str]] = {}
    for name, entry in cluster.storage.items():
        for secret in entry.server_secrets:
            groups.setdefault(secret, []).append(entry_group("serve", name))
    for (name, file), members in groups.items():
        yield Secret(name, file.path, tuple(members), owner="root", mode=file.mode, origin="given")
