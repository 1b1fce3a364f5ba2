"""The InfiniBand subnet manager on nodes, and none on any other node."""

from __future__ import annotations

AREA = "fabric"
