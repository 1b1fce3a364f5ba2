"""Slurm's daemons: the units, directories, logs and ports of slurmctld, slurmd and sackd, and of MUNGE."""

from __future__ import annotations

AREA = "daemons"
REQUIRES = "slurm"
