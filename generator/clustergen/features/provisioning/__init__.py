"""Nodes that a Warewulf server boots over the network, with an image and with the files of the tree."""

from __future__ import annotations

AREA = "provisioning"
