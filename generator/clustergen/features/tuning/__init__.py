"""Tuning of node types: settings of kernel and drivers, by a script at every boot."""

from __future__ import annotations

AREA = "host"
