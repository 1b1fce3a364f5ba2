"""Ports of the cluster's services: firewalld opens them, and nftables closes all others."""

from __future__ import annotations

AREA = "firewall"
