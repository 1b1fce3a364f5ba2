"""Roles of nodes: what runs on them."""

from __future__ import annotations

from typing import Literal

Role = Literal[
    "slurm-controller",
    "slurm-accounting",
    "slurm-compute",
    "login",
    "monitoring",
    "log-collector",
    "nfs-server",
    "subnet-manager",
    "lnet-router",
]
