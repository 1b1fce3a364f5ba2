"""Reports of usage by account and user, when a period is over."""

from __future__ import annotations

AREA = "reports"
REQUIRES = "slurm"
