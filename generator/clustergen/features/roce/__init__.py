"""RoCE: lossless Ethernet on the hosts, what switches must share with them, and counters of ports."""

from __future__ import annotations

AREA = "fabric"
