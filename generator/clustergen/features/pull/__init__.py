"""Compute nodes that fetch the tree from git and apply it to themselves, from their first boot on."""

from __future__ import annotations

AREA = "provisioning"
