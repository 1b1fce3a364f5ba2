"""Acceptance of the finished cluster: its gates, and the configuration of ReFrame, which runs them."""

from __future__ import annotations

AREA = "acceptance"
REQUIRES = "slurm"
