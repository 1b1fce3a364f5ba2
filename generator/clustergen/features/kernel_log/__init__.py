"""Errors in the logs of kernels: a program of every node counts them."""

from __future__ import annotations

AREA = "monitoring"
