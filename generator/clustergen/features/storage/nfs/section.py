"""NFS: what the manifest says of it."""

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from clustergen.diagnostics.words import on_one_line
from clustergen.manifest.base import (
    NOT_EMPTY,
    AbsolutePath,
    BlockDevice,
    BmcUser,
    Cidr,
    Host,
    HostList,
    Name,
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

ZfsLayout = Literal["mirror", "raidz1", "raidz2", "raidz3", "stripe"]
SharedDevice = Annotated[
    str,
    text(
        r"^/dev/(mapper|disk/by-id)/[A-Za-z0-9_.:-]+$",
        "write a path below /dev/disk/by-id or /dev/mapper: it is the same on both servers",
        255,
    ),
]


class ZfsPool(Section):
    """A ZFS pool of an NFS server."""

    name: Name = field("tank", "Name.")
    layout: ZfsLayout = field("raidz2", "Redundancy of a vdev.")
    disks: tuple[BlockDevice, ...] = field(..., "Disks, best by /dev/disk/by-id.", min_length=1)
    vdev_width: Annotated[int, Field(ge=1, le=64)] | None = field(None, "Disks in a vdev; default all in one.")
    log: tuple[BlockDevice, ...] = field((), "SLOG devices, mirrored when two.")
    cache: tuple[BlockDevice, ...] = field((), "L2ARC devices.")
    ashift: Annotated[int, Field(ge=9, le=16)] = field(12, "Sector size as a power of two.")
    properties: Options = field({}, "Dataset properties: {compression: lz4}.")
    scrub: Literal["weekly", "monthly", "never"] = field("monthly", "How often ZFS verifies the pool's data.")
    arc_max: Bytes | None = field(None, "Memory for ZFS's cache; default half of the node's, a quarter where jobs run.")


class Export(Section):
    """Server settings, if a node of this cluster is the server."""

    networks: tuple[Cidr, ...] = field(
        (), "Networks that can mount it; default: management, storage, and the one by which clients mount."
    )
    options: tuple[MountOption, ...] = field(("rw", "no_subtree_check", "root_squash"), "Options of /etc/exports.")
    threads: Annotated[int, Field(ge=1, le=1024)] = field(64, "nfsd threads.")
    zfs: Annotated[ZfsPool | None, NOT_EMPTY] = field(None, "ZFS pool of the exported directory.")


class Failover(Section):
    """Two servers between which the address `server` moves, by Pacemaker."""

    servers: HostList = field(
        ..., "Two nodes with BMCs; the first has the address unless it fails.", sample='"nfs[1-2]"'
    )
    device: SharedDevice = field(..., "Disk that both servers see, by the same path.", sample="/dev/mapper/nfs")
    size: Bytes | None = field(None, "Expected size of the disk; another one by more than 2 % is not formatted.")
    filesystem: Literal["xfs", "ext4"] = field("xfs", "File system on the disk.")
    directory: AbsolutePath = field(..., "Where the disk is mounted; `path` is below it.", sample="/srv/nfs")
    user: BmcUser = field(
        "clustergen", "Account on the BMCs, for fencing; its password is a given secret (secrets_given.bmc)."
    )
    check_certificates: bool = field(True, "Whether certificates of BMCs are checked (Redfish).")


_EXPORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(/[A-Za-z0-9_.@:+,%/-]*)")


def _server_only(value: Any) -> Any:
    """`host:/path`, as mount and fstab have it, is two fields here."""
    if isinstance(value, str) and (both := _EXPORT.fullmatch(value)):
        from pydantic_core import PydanticCustomError

        host, path = both[1].strip("[]"), both[2].rstrip("/")
        context = {
            "path": both[2],
            "hint": f"write server: {on_one_line(host)}, path: {path or '/…'}",
            "offset": both.start(2) - 1,
            "length": len(both[2]) + 1,
            "absent": ("path",),
        }
        raise PydanticCustomError("text-malformed", "the path '{path}' belongs in the key 'path'", context)
    return value


class Nfs(Mount):
    """An NFS file system."""

    OTHER_NAMES: ClassVar = {
        **Mount.OTHER_NAMES,
        **dict.fromkeys(("servers", "host", "hosts", "hostname", "ip", "nas", "filer", "nfsserver"), "server"),
        **dict.fromkeys(("export", "exports", "share", "device", "directory", "remotepath", "exportpath"), "path"),
    }
    SOURCE = r"(?P<server>[^:/@\s]+):(?P<path>/\S*)"
    type: Literal["nfs"] = field(..., "Kind of file system.")
    server: Annotated[Host, BeforeValidator(_server_only)] = field(
        ...,
        "Server: a node with the role nfs-server, or any other host. A node's name leaves the network to clustergen.",
        sample="10.0.0.20",
    )
    path: AbsolutePath = field(..., "Path on the server.", sample="/export/home")
    version: Literal["3", "4.0", "4.1", "4.2"] = field("4.2", "Protocol.")
    nconnect: Annotated[int, Field(ge=1, le=16)] | None = field(
        None, "TCP connections; fixed by a client's first mount of the server."
    )
    rdma: bool = field(False, "NFS over RDMA, by the server's address on a network that carries it.")
    port: PortNumber | None = field(None, "Port, if not 2049 (RDMA: 20049).")
    soft: bool = field(False, "Give up with an error instead of waiting: can corrupt data silently.")
    quotas: tuple[OwnerQuota, ...] = field((), "Limits of users and groups, on the node that is the server.")
    export: Export = section(Export, "The server's side.")
    failover: Annotated[Failover | None, NOT_EMPTY] = field(
        None, "High availability: `server` is an address that moves between two nodes with a shared disk."
    )


PLACES = {"storage.*.nfs": Nfs}
