"""Slurm as resolved: a record per topic."""

from __future__ import annotations

REQUIRES = "slurm"
