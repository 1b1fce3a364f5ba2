"""Entries of storage, and clusters that mount them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from strategies.trees import COMPUTE, HEAD, manifest, tree_of

UNITS = "/etc/systemd/system"
LUSTRE = {"type": "lustre", "mount": "/mnt/lustre", "mgs": ["10.1.0.1@o2ib,10.0.0.201@tcp", "10.1.0.2@o2ib"]}
NFS = {"type": "nfs", "server": "filer", "path": "/export/home", "mount": "/home"}
WEKA = {"type": "weka", "mount": "/mnt/weka", "backends": ["w1", "w2"], "filesystem": "fs"}
BEEGFS = {"type": "beegfs", "version": "8.3", "mount": "/mnt/bee", "mgmtd": "10.0.0.50"}
CEPH = {
    "type": "cephfs",
    "mount": "/mnt/ceph-fs",
    "monitors": ["10.0.0.60", "10.0.0.61:6790"],
    "fsid": "0e5b8f0c-7d0e-4a55-9f1c-0123456789ab",
    "user": "cluster",
}
LOCAL = {"type": "local", "mount": "/scratch", "device": "LABEL=scratch"}


def stored(directory: Path, **entries: Any) -> Any:
    """A tree with these storage entries; the nodes have addresses in the fabric, as LNet requires."""
    return tree_of(manifest(storage=entries, nodes=[HEAD, ON_FABRIC[1]], networks=FABRIC), directory)


def options(text: str) -> list[str]:
    match = re.search(r"^Options=(.*)$", text, re.MULTILINE)
    assert match
    return match[1].split(",")


SERVER = {**HEAD, "roles": ["slurm-controller", "slurm-accounting", "login", "nfs-server"]}
FABRIC = {**manifest()["networks"], "fabric": {"type": "infiniband", "rate": "NDR", "cidr": "10.1.0.0/24"}}
ON_FABRIC = [
    {**SERVER, "addresses": {"fabric": "10.1.0.1"}},
    {**COMPUTE, "addresses": {"fabric": "10.1.0.[11-14]"}},
]
