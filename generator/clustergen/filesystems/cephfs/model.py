"""CephFS: what the manifest says of it, and what it needs on its nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from clustergen.filesystems.descriptor import FileSystem, Scope, SecretFile, catalogued_ports
from clustergen.hostlist import expand
from clustergen.manifest.base import (
    AbsolutePath,
    Endpoint,
    HostList,
    HostName,
    Section,
    field,
    text,
)
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


def secret_path(name: str) -> str:
    """Where the key of the entry's CephX user lies on its nodes (root, 0600; put there at apply time)."""
    return f"/etc/ceph/clustergen-{name}.secret"


def managers(spec: CephServers) -> list[str]:
    return expand(spec.managers) if spec.managers else expand(spec.monitors)[:2]


def servers(entry: Cephfs) -> tuple[str, ...]:
    """All hosts with daemons of Ceph, the one that has the specification first."""
    if entry.servers is None:
        return ()
    spec = entry.servers
    osds = (osd.host for osd in spec.osds)
    return tuple(dict.fromkeys((*expand(spec.monitors), *managers(spec), *expand(spec.metadata), *osds)))


def specification_path(name: str) -> str:
    return f"/etc/ceph/clustergen-{name}.spec.yaml"


def mount_type(entry: Cephfs) -> str:
    """The type for mount(8), which has a helper for each client."""
    return "fuse.ceph" if entry.mounter == "fuse" else "ceph"


def _packages(entry: Cephfs) -> Iterator[tuple[Scope, str]]:
    yield "mount", "cephfs" if entry.mounter == "kernel" else "ceph_fuse"
    if entry.quotas:
        yield "mount", "xattr"


def _manual_steps(name: str, entry: Cephfs, _: str) -> Iterator[str]:
    if entry.servers:
        path = specification_path(name)
        yield (
            f"Bootstrap Ceph for {name} on {servers(entry)[0]} with cephadm, then ceph orch apply -i {path} --dry-run,"
            " and without --dry-run when it shows these disks alone."
        )


FILE_SYSTEM = FileSystem(
    kind="cephfs",
    quotas="client",
    model=Cephfs,
    mount_type=mount_type,
    sources=lambda entry: entry.monitors,
    client_group="cephfs_client",
    servers=servers,
    devices=lambda entry: (device for osds in entry.servers.osds for device in osds.devices) if entry.servers else (),
    manual_steps=_manual_steps,
    entry_packages=_packages,
    secret=lambda _, name: SecretFile(secret_path(name), "0600"),
    listening=catalogued_ports(("serve", "ceph-mon"), ("serve", "ceph-mon-v1"), ("serve", "ceph")),
    lab_mounts=lambda entry: entry.mounter == "fuse",
    lab_packages=("cephfs", "ceph_fuse"),
)
