"""Prolog, epilog and task prolog: the programs that run around jobs, and their local scratch."""

from __future__ import annotations

AREA = "slurm"
REQUIRES = "slurm"
