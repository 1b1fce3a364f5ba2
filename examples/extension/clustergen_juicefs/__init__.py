"""JuiceFS clients: object storage as a file system."""

from __future__ import annotations

API = 1  # of clustergen's extensions
