"""/etc/hosts, with all nodes by all their addresses."""

from __future__ import annotations

AREA = "host"
