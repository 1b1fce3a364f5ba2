"""Kernel settings of all nodes, by sysctl."""

from __future__ import annotations

AREA = "host"
