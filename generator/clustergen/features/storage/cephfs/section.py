"""CephFS: what the manifest says of it."""

from typing import Annotated, ClassVar, Literal

from clustergen.manifest.base import AbsolutePath, Endpoint, HostList, HostName, Section, field, text
from clustergen.manifest.mount import FileSystemName, Mount
from clustergen.manifest.quotas import DirectoryQuota

OsdDevice = Annotated[
    str,
    text(
        r"^/dev/(disk/by-id|mapper)/[A-Za-z0-9_.:-]+$",
        "write a path below /dev/disk/by-id or /dev/mapper: cephadm erases nothing, but takes every empty disk",
    ),
]


class Osds(Section):
    """Disks of one host, each an OSD."""

    host: HostName = field(..., "Host.")
    devices: tuple[OsdDevice, ...] = field(..., "Its disks.", min_length=1)


class CephServers(Section):
    """Daemons of the Ceph cluster on nodes of this cluster, for cephadm."""

    monitors: HostList = field(
        ..., "Hosts of the monitors; an odd number. The first has the specification.", sample='"ceph[1-3]"'
    )
    managers: HostList | None = field(None, "Hosts of the managers; default: the first two monitors.")
    metadata: HostList = field(
        ..., "Hosts of the metadata servers, one of them active and the others standby.", sample='"ceph[1-3]"'
    )
    osds: tuple[Osds, ...] = field(..., "Disks.", min_length=1)


class Cephfs(Mount):
    """A CephFS file system."""

    OTHER_NAMES: ClassVar = {
        **Mount.OTHER_NAMES,
        **dict.fromkeys(("mon", "mons", "monitor", "monhost", "monhosts", "server", "host", "hosts"), "monitors"),
        **dict.fromkeys(("fs", "fsname", "filesystemname"), "filesystem"),
        **dict.fromkeys(("client", "clientname", "username", "cephuser"), "user"),
        **dict.fromkeys(("subdir", "subdirectory", "root"), "path"),
    }
    SOURCE = r"(?P<monitors>[^/@\s]+?):(?P<path>/\S*)"
    type: Literal["cephfs"] = field(..., "Kind of file system.")
    monitors: tuple[Endpoint, ...] = field(..., "Monitors.", sample="[10.0.0.21, 10.0.0.22, 10.0.0.23]", min_length=1)
    fsid: Annotated[
        str,
        text(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", "write the fsid as ceph fsid prints it, in lower case"),
    ] = field(..., "Id of the Ceph cluster.")
    filesystem: FileSystemName = field("cephfs", "Name of the file system.")
    user: FileSystemName = field(..., "CephX user; its key is installed on the nodes at apply time.", sample="cluster")
    path: AbsolutePath | None = field(None, "Directory of the file system to mount.")
    mounter: Literal["kernel", "fuse"] = field(
        "kernel", "Client that mounts it: the kernel's, or ceph-fuse, which needs no module and runs in containers."
    )
    servers: CephServers | None = field(None, "Servers on nodes of the cluster; none: there is no specification.")
    quotas: tuple[DirectoryQuota, ...] = field((), "Limits of directories.")


PLACES = {"storage.*.cephfs": Cephfs}
