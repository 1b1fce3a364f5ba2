"""The nodes' time zone."""

from __future__ import annotations

AREA = "host"
