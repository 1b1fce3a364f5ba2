"""IBM Storage Scale: files that no program can read here."""

from __future__ import annotations

from clustergen.verify.check import unreadable

CHECKS = (
    unreadable(
        "storage scale",
        "Storage Scale: mount options of a node",
        "mmfsd",
        "Storage Scale is in no distribution, and its daemon reads them when it mounts the file system.",
        "/var/mmfs/etc/*",
    ),
)
