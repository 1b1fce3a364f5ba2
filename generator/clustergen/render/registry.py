"""All files that a render can make: `FILES` of each module and package of `render/views`."""

from __future__ import annotations

from clustergen.discovery import modules_of
from clustergen.render.file import File

_FIRST = (
    "slurm", "host", "network", "fabric", "nccl", "monitoring", "grafana", "drift", "exporters", "probes", "logs",
    "usage_report", "backups", "dcgm", "dcgm_guard", "gpu", "storage", "containers", "user_directories", "inventory",
    "pull", "cloud_init", "cloud_init_seed", "warewulf", "facility", "acceptance", "jobs", "report",
)  # fmt: skip
"""The order of groups in the inventory and README.md of a tree; other families follow by name."""


def files() -> tuple[File, ...]:
    """All rows of the registry, family by family."""
    return tuple(file for family in modules_of("clustergen.render.views", "FILES", _FIRST) for file in family.FILES)
