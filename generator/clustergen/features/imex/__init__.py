"""IMEX: GPU memory that jobs share across the nodes of an NVLink domain."""

from __future__ import annotations

AREA = "gpu"
