"""All that Slurm reads, and the scripts and units around its daemons: a module per file or topic, gathered in FILES."""

from __future__ import annotations

from clustergen.render.file import File
from clustergen.render.views.slurm import (
    configs,
    services,
)

FILES: tuple[File, ...] = (
    *configs.FILES,
    *services.FILES,
)
