"""Directories of each job's own, such as /tmp: job_container/tmpfs, or namespace/tmpfs."""

from __future__ import annotations

AREA = "slurm"
REQUIRES = "slurm"
