"""NVIDIA's driver: kernel modules, persistence, fabric manager, power and clocks of GPUs."""

from __future__ import annotations

AREA = "gpu"
