"""Slurm's accounts, users and QOS: what slurmdbd's database holds about who may run what."""

from __future__ import annotations

AREA = "accounting"
REQUIRES = "slurm"
