"""Prometheus: rules, targets and runbooks on the monitoring nodes."""

from __future__ import annotations

AREA = "monitoring"
