"""Health of local disks, which smartctl reads."""

from __future__ import annotations

AREA = "monitoring"
