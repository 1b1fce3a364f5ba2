"""UCX and Open MPI: the devices and networks that jobs use beside NCCL."""

from __future__ import annotations

AREA = "nccl"
