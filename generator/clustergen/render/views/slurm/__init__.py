"""The files that Slurm's daemons read: a module per file."""

from __future__ import annotations

from clustergen.render.views.slurm.configs import FILES as FILES

AREA = "slurm"
