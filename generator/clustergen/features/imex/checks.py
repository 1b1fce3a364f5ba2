"""Files of IMEX, which no program can read here."""

from __future__ import annotations

from clustergen.verify.check import unreadable

COMPONENT = "fabric"
CHECKS = (
    unreadable(
        "imex",
        "nodes of an NVLink domain",
        "nvidia-imex",
        "NVIDIA's IMEX daemon is in no distribution and requires the GPUs.",
        "/etc/nvidia-imex/*",
    ),
)
