"""Sensors and power of nodes: the IPMI exporter asks their BMCs."""

from __future__ import annotations

AREA = "monitoring"
