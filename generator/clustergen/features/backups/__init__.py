"""Backups of the accounting database and of slurmctld's state to storage of other machines."""

from __future__ import annotations

AREA = "backups"
REQUIRES = "slurm"
