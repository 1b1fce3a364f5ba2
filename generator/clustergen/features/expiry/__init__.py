"""Dates on which certificates, licences and contracts end."""

from __future__ import annotations

AREA = "monitoring"
