"""Metrics of GPUs: DCGM and its exporter."""

from __future__ import annotations

AREA = "monitoring"
