"""BeeGFS: what the manifest says of it, and what it needs on its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from clustergen.catalogue.versions import BeegfsVersion
from clustergen.filesystems.descriptor import FileSystem, Scope, SecretFile, Unread, listed_interfaces
from clustergen.manifest.base import (
    Device,
    Endpoint,
    Options,
    field,
    text,
)
from clustergen.manifest.mount import Mount


class Beegfs(Mount):
    """A BeeGFS file system."""

    type: Literal["beegfs"] = field(..., "Kind of file system.")
    version: Literal["7.4", "8.0", "8.1", "8.2", "8.3", "8.4"] = field(..., "Release; 7.4 and 8 have different keys.")
    mgmtd: Endpoint = field(..., "Management server; from 8.2 on an address.")
    rdma: bool | None = field(None, "Use RDMA; default: where the fabric has it.")
    interfaces: tuple[Device, ...] = field((), "Interfaces to prefer, in order.")
    net_filter: tuple[
        Annotated[str, text(r"^[0-9a-fA-F.:]+/[0-9]{1,3}$", "write address and prefix length, as 10.0.0.0/24")], ...
    ] = field((), "Only servers in these networks.")
    authentication: bool = field(True, "Authenticate with a shared secret, installed on the nodes at apply time.")
    quota: bool = field(False, "Enforce quota.")
    client_options: Options = field({}, "More keys of beegfs-client.conf.")


def secret_path(storage: Mapping[str, Mount], name: str) -> str:
    """Where the shared secret of an entry lies on its nodes (root, 0400; put there at apply time)."""
    first = next(key for key, entry in storage.items() if isinstance(entry, Beegfs))
    return "/etc/beegfs/conn.auth" if name == first else f"/etc/beegfs/conn-{name}.auth"


def _secret(storage: Mapping[str, Any], name: str) -> SecretFile | None:
    return SecretFile(secret_path(storage, name), "0400") if storage[name].authentication else None


def _packages(entry: Beegfs) -> Iterator[tuple[Scope, str]]:
    yield "mount", "beegfs_8" if BeegfsVersion(entry.version) >= BeegfsVersion("8.0") else "beegfs_7"


FILE_SYSTEM = FileSystem(
    kind="beegfs",
    model=Beegfs,
    client_group="beegfs_client",
    packages=("kernel_headers",),
    entry_packages=_packages,
    secret=_secret,
    interfaces=listed_interfaces,
    monitored_units=("beegfs-.+",),
    unread=(
        Unread(
            "beegfs",
            "BeeGFS client",
            "beegfs-client",
            "BeeGFS is in no distribution, and its client's files are read by the kernel module. Keys are checked "
            "against the catalogue.",
            ("/etc/beegfs/*",),
        ),
    ),
    lab_units=("beegfs-*",),
    lab_packages=("beegfs*",),
)
