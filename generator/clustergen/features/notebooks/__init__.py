"""JupyterHub: users start notebooks as Slurm jobs from a browser."""

from __future__ import annotations

AREA = "users"
REQUIRES = "slurm"
