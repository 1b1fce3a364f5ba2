"""Interfaces of nodes: files of netplan, ifupdown or NetworkManager, and the program that activates them."""

from __future__ import annotations

AREA = "fabric"
