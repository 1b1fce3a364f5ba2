"""Metrics of Slurm: jobs, nodes and the scheduler."""

from __future__ import annotations

AREA = "monitoring"
REQUIRES = "slurm"
