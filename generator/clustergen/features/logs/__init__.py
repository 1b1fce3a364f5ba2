"""Central logs: every node sends its log to collectors."""

from __future__ import annotations

AREA = "logs"
