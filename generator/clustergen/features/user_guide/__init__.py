"""Guide and job templates for users, on the nodes where they log in."""

from __future__ import annotations

AREA = "users"
REQUIRES = "slurm"
