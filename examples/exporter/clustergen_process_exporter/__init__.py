"""process-exporter on login nodes: processor time and memory by user."""

from __future__ import annotations

API = 1
