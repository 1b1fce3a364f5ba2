"""A timer on a controller, or on a monitoring node without Slurm, that compares the machines with the manifest."""

from __future__ import annotations

AREA = "drift"
