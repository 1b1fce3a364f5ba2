"""Settings of firmware that nodes should have: a list for people, and what `drift` compares with the BMCs."""

from __future__ import annotations

AREA = "drift"
