"""File systems as resolved: what entries of all kinds have. The module `resolved` of a kind has its own record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from clustergen.catalogue.network import ports
from clustergen.cluster.annotations import Hosts
from clustergen.diagnostics import ManifestPath
from clustergen.manifest.mount import Mount
from clustergen.manifest.quotas import ProjectQuota, subject
from clustergen.manifest.quotas import Quota as WrittenQuota
from clustergen.records import copied, record
from clustergen.units import ByteRate

Scope = Literal["mount", "export", "serve"]
"""Of an entry: the nodes that mount it, the node that exports it by NFS, or the servers of its targets."""


@record
class SecretFile:
    """A file of root's with a secret that the site gives."""

    path: str  # on the node
    mode: str  # of the file, as 0600


@record
class Listening:
    """Ports on which the nodes of an entry listen, for the firewall. Packets of RDMA do not pass it.

    `ports` is a number or a range; `networks` have to reach it in addition to those of the cluster.
    """

    scope: Scope
    service: str
    ports: str
    protocols: tuple[str, ...]
    networks: tuple[str, ...] = ()


@record
class Quota:
    """Limits of a user, group, project or directory."""

    kind: str  # user, group, project or directory
    name: str  # of the user, group or project
    kib: int  # 0: no limit
    files: int  # 0: no limit
    directory: str  # of a project


@record
class QuotaTool:
    """A backend of clustergen-quota, on one client or on the server, and what it acts on."""

    scope: Scope
    backend: str
    place: str  # mount point; a dataset of ZFS
    path: str  # directory that must be mounted before
    environment: Mapping[str, str] = MappingProxyType({})


@record
class Exported:
    """The directory of a server that clients mount. `server` is as the manifest names it; `pool` is one of ZFS."""

    server: str
    path: str
    pool: str  # empty: none


@record
class Disk:
    """A disk of each client, formatted when a node is set up. `device`: path, LABEL= or UUID=."""

    device: str
    filesystem: str


@record
class Entry:
    """An entry of storage. Packages are purposes, which the files of `operating_systems/` turn into packages."""

    SECTIONS = ("Mount",)
    name: str  # in the manifest
    type: str  # kind of file system
    mount: str
    clients: tuple[str, ...]  # roles
    clients_at: ManifestPath | None  # None: left to the default
    node_types: tuple[str, ...]  # of the clients; empty: all
    required: bool
    options: tuple[str, ...]
    read_only: bool
    bandwidth: ByteRate | None
    quotas: tuple[Quota, ...]  # of users, groups, projects or directories

    @property
    def mount_type(self) -> str:
        """The type for mount(8) and its options."""
        return self.type

    @property
    def is_shared(self) -> bool:
        """True if all clients see the same files."""
        return True

    @property
    def tcp_connections(self) -> int | None:
        """TCP connections that carry all data of a node's mount; None: no such limit."""
        return None

    @property
    def sources(self) -> tuple[str, ...]:
        """Servers, as clients name them to mount the file system."""
        return ()

    @property
    def server_hosts(self) -> Hosts:
        """Hosts on which targets are created."""
        return ()

    def exported(self) -> Exported | None:
        """The directory that a server exports by NFS, be it a node of this cluster or not."""
        return None

    def disk(self) -> Disk | None:
        """The disk of each client."""
        return None

    @property
    def shows_quotas(self) -> bool:
        """True if the server answers clients that ask for a user's limits with quota(1)."""
        return False

    def quota_tool(self) -> QuotaTool:
        """How limits are set."""
        return QuotaTool("mount", self.type, self.mount, self.mount)

    def collectors(self) -> tuple[str, ...]:
        """Collectors of the node exporter that have something to read on its nodes."""
        return ()

    @property
    def devices(self) -> tuple[str, ...]:
        """Disks of the servers, as the manifest names them."""
        return ()

    @property
    def packages(self) -> tuple[tuple[Scope, str], ...]:
        """Packages in addition to those of all clients."""
        return ()

    @property
    def secret(self) -> SecretFile | None:
        """The secret of clients and servers."""
        return None

    @property
    def server_secrets(self) -> tuple[tuple[str, SecretFile], ...]:
        """Secrets of servers that the site gives, by name."""
        return ()

    def listed_interfaces(self) -> tuple[tuple[ManifestPath, str], ...]:
        """Interfaces that the manifest names, with their paths in the entry."""
        return tuple((("interfaces", index), name) for index, name in enumerate(getattr(self, "interfaces", ())))

    @property
    def is_mountable_in_lab(self) -> bool:
        """True if a container can mount it."""
        return False

    def listening(self, entries: Mapping[str, Entry]) -> Iterable[Listening]:
        """Ports on which its nodes listen; `entries` are all."""
        return ()

    def manual_steps(self, clients: str) -> Iterable[str]:
        """Steps that no playbook does; `clients` is a host list."""
        return ()


E = TypeVar("E", bound=Entry)


def resolved(kind: type[E], name: str, section: Mount, **others: Any) -> E:
    """The record of an entry; fields that are not in `others` are those of the section with the same name."""
    return copied(
        kind,
        section,
        name=name,
        clients_at=("storage", name, "clients") if "clients" in section.model_fields_set else None,
        quotas=tuple(map(_quota, getattr(section, "quotas", ()))),
        **others,
    )


def _quota(quota: WrittenQuota) -> Quota:
    kind, name = subject(quota)
    directory = quota.directory if isinstance(quota, ProjectQuota) else None
    return Quota(kind, name, quota.space.value // 1024 if quota.space else 0, quota.files or 0, directory or "")


def catalogued_ports(*services: tuple[Scope, str]) -> Iterator[Listening]:
    """Ports that no field of the manifest changes, by their names in the catalogue."""
    for scope, name in services:
        row = ports()[name]
        yield Listening(scope, name, row.span, row.protocols)


def texts(options: Mapping[str, Any]) -> dict[str, str]:
    """Options as files have them."""
    return {key: str(value) for key, value in options.items()}


def is_needed_by_jobs(entry: Entry) -> bool:
    """A file system that jobs cannot do without."""
    return entry.required and "slurm-compute" in entry.clients
