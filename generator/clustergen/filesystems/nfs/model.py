"""NFS: what the manifest says of it, and what it needs on its nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from clustergen.filesystems.descriptor import FileSystem, Scope
from clustergen.manifest.base import (
    NOT_EMPTY,
    AbsolutePath,
    BlockDevice,
    Host,
    Options,
    PortNumber,
    Section,
    field,
    section,
    text,
)
from clustergen.manifest.mount import Mount, MountOption
from clustergen.manifest.quotas import OwnerQuota
from clustergen.units import Bytes


class ZfsPool(Section):
    """A ZFS pool of an NFS server."""

    name: Annotated[
        str, text(r"^[a-z][a-z0-9_-]*$", "use lower-case letters, digits, _ and -, and begin with a letter", 63)
    ] = field("tank", "Name.")
    layout: Literal["mirror", "raidz1", "raidz2", "raidz3", "stripe"] = field("raidz2", "Redundancy of a vdev.")
    disks: tuple[BlockDevice, ...] = field(..., "Disks, best by /dev/disk/by-id.", min_length=1)
    vdev_width: Annotated[int, Field(ge=1, le=64)] | None = field(None, "Disks in a vdev; default all in one.")
    log: tuple[BlockDevice, ...] = field((), "SLOG devices, mirrored when two.")
    cache: tuple[BlockDevice, ...] = field((), "L2ARC devices.")
    ashift: Annotated[int, Field(ge=9, le=16)] = field(12, "Sector size as a power of two.")
    properties: Options = field({}, "Dataset properties: {compression: lz4}.")
    arc_max: Bytes | None = field(None, "Memory for ZFS's cache; default half of the node's, a quarter where jobs run.")


class Export(Section):
    """Server settings, if a node of this cluster is the server."""

    networks: tuple[
        Annotated[str, text(r"^[0-9a-fA-F.:]+/[0-9]{1,3}$", "write address and prefix length, as 10.0.0.0/24")], ...
    ] = field(
        (),
        "Networks that can mount it; default: management, storage, and the one by which clients mount.",
    )
    options: tuple[MountOption, ...] = field(("rw", "no_subtree_check", "root_squash"), "Options of /etc/exports.")
    threads: Annotated[int, Field(ge=1, le=1024)] = field(64, "nfsd threads.")
    zfs: Annotated[ZfsPool | None, NOT_EMPTY] = field(None, "ZFS pool of the exported directory.")


class Nfs(Mount):
    """An NFS file system."""

    type: Literal["nfs"] = field(..., "Kind of file system.")
    server: Host = field(
        ...,
        "Server: a node with the role nfs-server, or any other host. A node's name leaves the network to clustergen.",
    )
    path: AbsolutePath = field(..., "Path on the server.")
    version: Literal["3", "4.0", "4.1", "4.2"] = field("4.2", "Protocol.")
    nconnect: Annotated[int, Field(ge=1, le=16)] | None = field(
        None, "TCP connections; fixed by a client's first mount of the server."
    )
    rdma: bool = field(False, "NFS over RDMA, by the server's address on a network that carries it.")
    port: PortNumber | None = field(None, "Port, if not 2049 (RDMA: 20049).")
    soft: bool = field(False, "Give up with an error instead of waiting: can corrupt data silently.")
    quotas: tuple[OwnerQuota, ...] = field((), "Limits of users and groups, on the node that is the server.")
    export: Export = section(Export, "The server's side.")


def _packages(entry: Nfs) -> Iterator[tuple[Scope, str]]:
    if entry.export.zfs is not None:
        yield "export", "kernel_headers"
        yield "export", "zfs"
    elif entry.quotas:
        yield "export", "quota"


FILE_SYSTEM = FileSystem(
    kind="nfs",
    quotas="server",
    model=Nfs,
    client_group="nfs_client",
    packages=("nfs_client",),
    entry_packages=_packages,
    lab_units=("zfs*", "nfs-*", "rpc*", "nfsdcld.service"),
    lab_packages=("zfs", "nfs_client", "nfs_server"),
)
