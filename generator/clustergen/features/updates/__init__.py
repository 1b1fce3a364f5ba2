"""Packages that keep their version, and security updates that nodes install by themselves."""

from __future__ import annotations

AREA = "host"
