"""NCCL: environment variables of all jobs, and its topology file."""

from __future__ import annotations

AREA = "nccl"
