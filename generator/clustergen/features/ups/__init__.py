"""Shutdown by a UPS: Network UPS Tools (NUT) on the nodes that it feeds."""

from __future__ import annotations

AREA = "host"
