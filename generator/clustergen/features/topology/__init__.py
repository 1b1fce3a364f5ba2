"""Topology: the switches and blocks by which Slurm places jobs on neighbouring nodes."""

from __future__ import annotations

AREA = "slurm"
REQUIRES = "slurm"
