"""Logins by ssh to compute nodes: those of users with a job there, and of administrators."""

from __future__ import annotations

AREA = "slurm"
