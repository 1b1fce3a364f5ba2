"""Power saving: slurmctld switches idle nodes off, and on again when a job needs them."""

from __future__ import annotations

AREA = "slurm"
REQUIRES = "slurm"
