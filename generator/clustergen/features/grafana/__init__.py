"""Grafana with dashboards of this cluster."""

from __future__ import annotations

AREA = "monitoring"
