"""Time: the controllers ask servers outside, and all other nodes the controllers."""

from __future__ import annotations

AREA = "host"
