"""CephFS: what the manifest says of it, and what it needs on its nodes."""

from __future__ import annotations

from typing import Annotated, Literal

from clustergen.filesystems.descriptor import FileSystem, SecretFile
from clustergen.manifest.base import (
    AbsolutePath,
    Endpoint,
    field,
    text,
)
from clustergen.manifest.mount import Mount


class Cephfs(Mount):
    """A CephFS file system."""

    type: Literal["cephfs"] = field(..., "Kind of file system.")
    monitors: tuple[Endpoint, ...] = field(..., "Monitors.", min_length=1)
    fsid: Annotated[
        str,
        text(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", "write the fsid as ceph fsid prints it, in lower case"),
    ] = field(..., "Id of the Ceph cluster.")
    filesystem: Annotated[str, text(r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", "use letters, digits, _ . and -", 63)] = field(
        "cephfs", "Name of the file system."
    )
    user: Annotated[str, text(r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", "use letters, digits, _ . and -", 63)] = field(
        ..., "CephX user; its key is installed on the nodes at apply time."
    )
    path: AbsolutePath | None = field(None, "Directory of the file system to mount.")


def secret_path(name: str) -> str:
    """Where the key of the entry's CephX user lies on its nodes (root, 0600; put there at apply time)."""
    return f"/etc/ceph/clustergen-{name}.secret"


FILE_SYSTEM = FileSystem(
    kind="cephfs",
    model=Cephfs,
    mount_type="ceph",
    client_group="cephfs_client",
    packages=("cephfs",),
    secret=lambda _, name: SecretFile(secret_path(name), "0600"),
    lab_packages=("cephfs",),
)
