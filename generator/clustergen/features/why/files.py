"""The program `why`, on all nodes where a user can ask Slurm, and the modules that it imports."""

from __future__ import annotations

from clustergen.render.file import File, always

_LIBRARY = "slurm_node/usr/local/lib/clustergen"


FILES = (
    File("slurm_node/usr/local/bin/why", always, mode=0o755, program="jobs/why.py"),
    *(File(f"{_LIBRARY}/{name}.py", always, program=f"lib/{name}.py") for name in ("slurm_limits", "slurm_records")),
)
