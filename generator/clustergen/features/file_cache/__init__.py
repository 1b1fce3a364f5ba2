"""A cache of NFS files on local disks (FS-Cache), which cachefilesd keeps."""

from __future__ import annotations

AREA = "storage"
