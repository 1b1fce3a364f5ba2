"""Metrics of machines: the node exporter of every node."""

from __future__ import annotations

AREA = "monitoring"
