"""File systems: a feature per kind, which is the word for its `type` in the manifest."""

from __future__ import annotations

AREA = "storage"
ORDER = ("lustre", "beegfs", "nfs", "weka", "cephfs", "storage_scale", "local")
"""In the manifest's schema."""
