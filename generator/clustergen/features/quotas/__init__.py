"""Quotas of file systems: limits that clustergen-quota compares and sets."""

from __future__ import annotations

AREA = "storage"
