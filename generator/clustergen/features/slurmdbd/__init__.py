"""Accounting: slurmdbd with its database, and what it records of jobs."""

from __future__ import annotations

AREA = "accounting"
REQUIRES = "slurm"
