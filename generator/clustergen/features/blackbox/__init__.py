"""Probes from outside: the blackbox exporter connects to sshd, BMCs and web pages."""

from __future__ import annotations

AREA = "monitoring"
