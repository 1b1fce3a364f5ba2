"""MIG: GPUs that nvidia-mig-parted splits before slurmd counts them."""

from __future__ import annotations

AREA = "gpu"
