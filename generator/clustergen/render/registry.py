"""All files that a render can make: `FILES` of each module and package of `render/views`, and of each
feature."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from clustergen.discovery import modules_of
from clustergen.feature import extension_of, modules
from clustergen.records import replace
from clustergen.render.file import File

_FIRST = (
    "slurm", "host", "network", "fabric", "nccl", "monitoring", "grafana", "drift", "exporters", "probes", "logs",
    "reports", "backups", "dcgm", "dcgm_guard", "gpu", "storage", "containers", "user_directories", "inventory",
    "pull", "cloud_init", "cloud_init_seed", "warewulf", "facility", "acceptance", "jobs", "report",
)  # fmt: skip
"""The order of groups in the inventory and README.md of a tree; other families follow by name."""


_FEATURES = "clustergen.features."


def files() -> tuple[File, ...]:
    """All rows of the registry, family by family."""
    families = [(each.__name__.rpartition(".")[2], each) for each in modules_of("clustergen.render.views", "FILES")]
    families += [(each.__name__.removeprefix(_FEATURES).rpartition(".")[0], each) for each in modules("files")]
    families.sort(key=lambda family: _FIRST.index(family[0]) if family[0] in _FIRST else len(_FIRST))
    return tuple(file for _, module in families for file in _rows(module))


def _rows(family: ModuleType) -> Iterator[File]:
    """The rows of a module; templates and programs of an extension are below its name."""
    extension = extension_of(family.__name__)
    for file in family.FILES:
        if extension is None or file.values:
            yield file
        elif file.program:
            yield replace(file, program=f"{extension.name}/{file.program}")
        else:
            yield replace(file, source=f"{extension.name}/{file.source or file.template}")
