"""A timer on a controller that compares the machines with the manifest."""

from __future__ import annotations

AREA = "drift"
REQUIRES = "slurm"
