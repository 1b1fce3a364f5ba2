"""Storage: what is mounted where, and how."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import (
    AbsolutePath,
    Device,
    Endpoint,
    Host,
    HostName,
    Options,
    PortNumber,
    Section,
    field,
    section,
)
from clustergen.units import Bytes

NidGroup = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9.:_-]+@(o2ib|tcp)[0-9]*(,[A-Za-z0-9.:_-]+@(o2ib|tcp)[0-9]*)*$", max_length=511)
]
MountOption = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.:-]*(=[A-Za-z0-9_./:+@-]+)?$", max_length=255)]
ClientRole = Literal["slurm-compute", "login", "slurm-controller", "monitoring"]


class Mount(Section):
    """What all file systems have in common."""

    mount: AbsolutePath = field(..., "Where nodes see it.")
    clients: tuple[ClientRole, ...] = field(("slurm-compute", "login"), "Roles whose nodes mount it.")
    required: bool = field(True, "Slurm starts only when it is mounted; false: jobs may run without it.")
    options: tuple[MountOption, ...] = field((), "More mount options.")
    read_only: bool = field(False, "Mounted read-only.")


class Component(Section):
    """A part of a progressive file layout: from the end of the last one up to `end`."""

    end: Bytes | Literal["rest"] = field(..., "Where it ends; the last one is `rest`.")
    stripes: Annotated[int, Field(ge=-1, le=2000)] = field(..., "OSTs it is spread over; -1 is all.")
    stripe_size: Bytes | None = field(None, "Bytes on one OST before the next; a multiple of 64 KiB.")
    pool: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,14}$")] | None = field(None, "OST pool.")


class Striping(Section):
    """The default layout of a directory."""

    directory: AbsolutePath = field(..., "Directory; must lie in the mount.")
    components: tuple[Component, ...] = field(
        ..., "Small parts of a file on few OSTs, large ones on many.", min_length=1
    )


class LnetNet(Section):
    """An LNet network of the clients."""

    name: Annotated[str, Field(pattern=r"^(o2ib|tcp)[0-9]*$")] = field(..., "o2ib (RDMA: InfiniBand and RoCE) or tcp.")
    interfaces: tuple[Device, ...] = field(..., "Interfaces, more for multi-rail.", min_length=1)


class LustreTarget(Section):
    """A target on the servers, where they are to be checked: index and failover."""

    kind: Literal["MGT", "MDT", "OST"] = field(..., "Kind.")
    index: Annotated[int, Field(ge=0, le=65535)] | None = field(
        None, "Unique for its kind in the file system; none for MGT."
    )
    server: HostName = field(..., "Where it runs.")


class Lustre(Mount):
    """A Lustre file system."""

    type: Literal["lustre"] = field(..., "Kind of file system.")
    version: Annotated[str, Field(pattern=r"^2\.[0-9]{1,2}$")] = field("2.15", "Release of the client.")
    mgs: tuple[NidGroup, ...] = field(
        ...,
        "NIDs of the MGS; an entry for each failover node, with commas between NIDs of the same node.",
        min_length=1,
    )
    fsname: str | None = field(None, "Name of the file system, 8 characters at most; default the entry's name.")
    subdirectory: AbsolutePath | None = field(None, "Mount only this part of it.")
    lnet: tuple[LnetNet, ...] = field(
        (), "LNet of the clients; default made of the MGS's network and the node type's NICs."
    )
    parameters: Options = field({}, "Client parameters: {osc.*.max_rpcs_in_flight: 32}.")
    striping: tuple[Striping, ...] = field((), "Default layouts.")
    targets: tuple[LustreTarget, ...] = field((), "Targets of the servers, to be checked.")


class Beegfs(Mount):
    """A BeeGFS file system."""

    type: Literal["beegfs"] = field(..., "Kind of file system.")
    version: Literal["7.4", "8.0", "8.1", "8.2", "8.3", "8.4"] = field(..., "Release; 7.4 and 8 have different keys.")
    mgmtd: Endpoint = field(..., "Management server; from 8.2 on an address.")
    rdma: bool | None = field(None, "Use RDMA; default: where the fabric has it.")
    interfaces: tuple[Device, ...] = field((), "Interfaces to prefer, in order.")
    net_filter: tuple[Annotated[str, Field(pattern=r"^[0-9a-fA-F.:]+/[0-9]{1,3}$")], ...] = field(
        (), "Only servers in these networks."
    )
    authentication: bool = field(True, "With a shared secret, which is put on the nodes at apply time.")
    quota: bool = field(False, "Enforce quota.")
    client_options: Options = field({}, "More keys of beegfs-client.conf.")


class ZfsPool(Section):
    """A ZFS pool of an NFS server."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=63)] = field("tank", "Name.")
    layout: Literal["mirror", "raidz1", "raidz2", "raidz3", "stripe"] = field("raidz2", "Redundancy of a vdev.")
    disks: tuple[Annotated[str, Field(pattern=r"^/dev/[A-Za-z0-9/_.:-]+$")], ...] = field(
        ..., "Disks, best by /dev/disk/by-id.", min_length=1
    )
    vdev_width: Annotated[int, Field(ge=1, le=64)] | None = field(None, "Disks in a vdev; default all in one.")
    log: tuple[Annotated[str, Field(pattern=r"^/dev/[A-Za-z0-9/_.:-]+$")], ...] = field(
        (), "SLOG devices, mirrored when two."
    )
    cache: tuple[Annotated[str, Field(pattern=r"^/dev/[A-Za-z0-9/_.:-]+$")], ...] = field((), "L2ARC devices.")
    ashift: Annotated[int, Field(ge=9, le=16)] = field(12, "Sector size as a power of two.")
    properties: Options = field({}, "Dataset properties: {compression: lz4}.")
    arc_max: Bytes | None = field(None, "Memory for ZFS's cache; default half of the node's, a quarter where jobs run.")


class Export(Section):
    """The server's side, where a node of this cluster is the server."""

    networks: tuple[Annotated[str, Field(pattern=r"^[0-9a-fA-F.:]+/[0-9]{1,3}$")], ...] = field(
        (), "Who may mount; default the management network."
    )
    options: tuple[MountOption, ...] = field(("rw", "no_subtree_check", "root_squash"), "Options of /etc/exports.")
    threads: Annotated[int, Field(ge=1, le=1024)] = field(64, "nfsd threads.")
    zfs: ZfsPool | None = field(None, "Pool that holds it.")


class Nfs(Mount):
    """An NFS file system."""

    type: Literal["nfs"] = field(..., "Kind of file system.")
    server: Host = field(..., "Server: a node with the role nfs-server, or any other host.")
    path: AbsolutePath = field(..., "Path on the server.")
    version: Literal["3", "4.0", "4.1", "4.2"] = field("4.2", "Protocol.")
    nconnect: Annotated[int, Field(ge=1, le=16)] | None = field(
        None, "TCP connections; fixed by a client's first mount of the server."
    )
    rdma: bool = field(False, "NFS over RDMA.")
    port: PortNumber | None = field(None, "Other port than 2049 (RDMA: 20049).")
    soft: bool = field(False, "Give up with an error instead of waiting: can corrupt data silently.")
    export: Export = section(Export, "The server's side.")


class Weka(Mount):
    """A WekaFS file system."""

    type: Literal["weka"] = field(..., "Kind of file system.")
    backends: tuple[Host, ...] = field(..., "Backend servers.", min_length=1)
    filesystem: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", max_length=32)] = field(
        ..., "Name of the file system."
    )
    interfaces: tuple[Device, ...] = field(
        (), "Interfaces for its traffic; default the storage or fabric ports; none: UDP."
    )
    cores: Annotated[int, Field(ge=1, le=19)] | None = field(
        None, "Cores for the client; default 2 with interfaces of its own."
    )
    mode: Literal["readcache", "writecache", "coherent", "forcedirect"] | None = field(None, "Caching.")


class Cephfs(Mount):
    """A CephFS file system."""

    type: Literal["cephfs"] = field(..., "Kind of file system.")
    monitors: tuple[Endpoint, ...] = field(..., "Monitors.", min_length=1)
    fsid: Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")] = field(
        ..., "Id of the Ceph cluster."
    )
    filesystem: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", max_length=63)] = field(
        "cephfs", "Name of the file system."
    )
    user: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", max_length=63)] = field(
        ..., "CephX user; its key is put on the nodes at apply time."
    )
    path: AbsolutePath | None = field(None, "Part of it to mount.")


class Local(Mount):
    """A local disk of the compute nodes."""

    type: Literal["local"] = field(..., "Kind of file system.")
    clients: tuple[ClientRole, ...] = field(("slurm-compute",), "Roles whose nodes have the disk.")
    device: Annotated[str, Field(pattern=r"^(/dev/[A-Za-z0-9/_.:-]+|LABEL=[A-Za-z0-9_.-]+|UUID=[A-Fa-f0-9-]+)$")] = (
        field(..., "Device, LABEL= or UUID=.")
    )
    filesystem: Literal["xfs", "ext4"] = field("xfs", "Format.")


Storage = Annotated[Lustre | Beegfs | Nfs | Weka | Cephfs | Local, Field(discriminator="type")]
