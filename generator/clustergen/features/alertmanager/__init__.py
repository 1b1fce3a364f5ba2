"""Alertmanager: who receives which alerts."""

from __future__ import annotations

AREA = "monitoring"
