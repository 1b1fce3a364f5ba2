"""BeeGFS: what the manifest says of it, and what it needs on its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from clustergen.filesystems.beegfs.network import listening
from clustergen.filesystems.descriptor import FileSystem, Scope, SecretFile, Unread, listed_interfaces
from clustergen.hostlist import compress, expand
from clustergen.manifest.base import (
    AbsolutePath,
    Cidr,
    Device,
    Endpoint,
    HostList,
    HostName,
    Options,
    Section,
    field,
)
from clustergen.manifest.mount import Mount
from clustergen.manifest.quotas import OwnerQuota


class BeegfsServers(Section):
    """Servers of a BeeGFS file system on nodes of the cluster."""

    management: HostName = field(..., "Management server.", sample="storage1")
    metadata: HostList = field(..., "Metadata servers; the first has node ID 1, and so on.", sample="storage1")
    metadata_directory: AbsolutePath = field(
        "/data/meta", "Mount point of the metadata target, the same on each of them."
    )
    storage: HostList = field(
        ..., "Storage servers; the first has node ID 1 and the target IDs 101, 102, …", sample='"storage[1-2]"'
    )
    storage_directories: tuple[AbsolutePath, ...] = field(
        ..., "Mount points of the storage targets, the same on each of them.", min_length=1, max_length=99
    )
    mirror: tuple[Literal["metadata", "storage"], ...] = field(
        (), "Mirror groups of neighbouring servers in these lists: 1 and 2, 3 and 4, …"
    )
    metadata_options: Options = field({}, "More keys of beegfs-meta.conf: {tuneNumWorkers: 64}.")
    storage_options: Options = field({}, "More keys of beegfs-storage.conf.")
    certificate: AbsolutePath = field("/etc/beegfs/cert.pem", "Certificate of the management server (8).")
    key: AbsolutePath = field("/etc/beegfs/key.pem", "Its private key (8).")


class Beegfs(Mount):
    """A BeeGFS file system."""

    type: Literal["beegfs"] = field(..., "Kind of file system.")
    version: Literal["7.4", "8.0", "8.1", "8.2", "8.3", "8.4"] = field(..., "Release; 7.4 and 8 have different keys.")
    mgmtd: Endpoint = field(..., "Management server; from 8.2 on an address.", sample="10.0.0.21")
    rdma: bool | None = field(None, "Use RDMA; default: where the fabric has it.")
    interfaces: tuple[Device, ...] = field((), "Interfaces to prefer, in order.")
    net_filter: tuple[Cidr, ...] = field((), "Only servers in these networks.")
    authentication: bool = field(True, "Authenticate with a shared secret, installed on the nodes at apply time.")
    quota: bool = field(False, "Enforce quota.")
    quotas: tuple[OwnerQuota, ...] = field((), "Limits of users and groups in the default storage pool, with quota.")
    servers: BeegfsServers | None = field(None, "Servers on nodes of the cluster; none: they are not configured.")
    client_options: Options = field({}, "More keys of beegfs-client.conf.")

    @property
    def is_8(self) -> bool:
        """One port key each in place of TCP and UDP ones; no helper daemon; the management server reads TOML."""
        return self.version != "7.4"


def secret_path(storage: Mapping[str, Mount], name: str) -> str:
    """Where the shared secret of an entry lies on its nodes (root, 0400; put there at apply time)."""
    first = next(key for key, entry in storage.items() if isinstance(entry, Beegfs))
    return "/etc/beegfs/conn.auth" if name == first else f"/etc/beegfs/conn-{name}.auth"


def _secret(storage: Mapping[str, Any], name: str) -> SecretFile | None:
    return SecretFile(secret_path(storage, name), "0400") if storage[name].authentication else None


def _packages(entry: Beegfs) -> Iterator[tuple[Scope, str]]:
    release = "8" if entry.is_8 else "7"
    if entry.servers:
        yield "serve", f"beegfs_server_{release}"
    yield "mount", f"beegfs_{release}"


def servers(entry: Beegfs) -> tuple[str, ...]:
    """All hosts of its servers, the management server first."""
    if entry.servers is None:
        return ()
    spec = entry.servers
    return tuple(dict.fromkeys((spec.management, *expand(spec.metadata), *expand(spec.storage))))


def _manual_steps(name: str, entry: Beegfs, _: str) -> Iterator[str]:
    if entry.servers:
        yield (
            f"Create the targets of {name}: mount their file systems, then clustergen-beegfs {name} check, format and"
            f" start, on the management server first, then on {compress(servers(entry))}."
        )
        if entry.servers.mirror:
            yield (
                f"Create the mirror groups of {name} before data are written: clustergen-beegfs {name} mirror on"
                f" {entry.servers.management}, when all servers run."
            )
        if entry.is_8:
            yield f"Install the certificate and key of the management server of {name}, and the licence of BeeGFS."


FILE_SYSTEM = FileSystem(
    kind="beegfs",
    quotas="client",
    model=Beegfs,
    sources=lambda entry: (entry.mgmtd,),
    client_group="beegfs_client",
    server_group="beegfs_server",
    servers=servers,
    manual_steps=_manual_steps,
    packages=("kernel_headers",),
    entry_packages=_packages,
    secret=_secret,
    listening=listening,
    interfaces=listed_interfaces,
    monitored_units=("beegfs-.+",),
    unread=(
        Unread(
            "beegfs",
            "BeeGFS",
            "beegfs-client",
            "BeeGFS is in no distribution, and its client's files are read by the kernel module. Keys are checked "
            "against the catalogue.",
            ("/etc/beegfs/*.conf", "/etc/beegfs/*.interfaces", "/etc/beegfs/*.netfilter"),
        ),
    ),
    lab_units=("beegfs-*",),
    lab_packages=("beegfs*",),
)
