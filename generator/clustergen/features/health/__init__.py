"""The health check that slurmd runs on compute nodes, and the same for LBNL NHC."""

from __future__ import annotations

AREA = "slurm"
REQUIRES = "slurm"
