"""Answers for users: why a job waits or how it ended, and what to do about it."""

from __future__ import annotations

AREA = "users"
REQUIRES = "slurm"
