"""All files that a render can make: `FILES` of each module and package of `render/views`, and of each
feature."""

from __future__ import annotations

from clustergen.discovery import modules_of
from clustergen.feature import modules
from clustergen.render.file import File

_FIRST = (
    "slurm", "host", "network", "fabric", "nccl", "monitoring", "grafana", "drift", "exporters", "probes", "logs",
    "usage_report", "backups", "dcgm", "dcgm_guard", "gpu", "storage", "containers", "user_directories", "inventory",
    "pull", "cloud_init", "cloud_init_seed", "warewulf", "facility", "acceptance", "jobs", "report",
)  # fmt: skip
"""The order of groups in the inventory and README.md of a tree; other families follow by name."""


def files() -> tuple[File, ...]:
    """All rows of the registry, family by family."""
    families = {module.__name__.rpartition(".")[2]: module for module in modules_of("clustergen.render.views", "FILES")}
    families |= {module.__name__.split(".", 2)[2].rpartition(".")[0]: module for module in modules("files")}
    names = sorted(families, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    return tuple(file for name in names for file in families[name].FILES)
