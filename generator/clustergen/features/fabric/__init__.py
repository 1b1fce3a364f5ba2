"""The fabric on the hosts: RDMA modules and names of devices, interfaces by rail, alerts on ports."""

from __future__ import annotations

AREA = "fabric"
