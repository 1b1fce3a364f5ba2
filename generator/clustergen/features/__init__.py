"""All that clustergen can configure beside the ground: a package per feature (see `clustergen.feature`)."""

from __future__ import annotations

ORDER = ("logs", "backups", "drift", "pull", "reports")
"""Of those whose contributions follow each other in a file; others follow by name."""
