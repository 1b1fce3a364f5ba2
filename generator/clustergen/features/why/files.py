"""The program `why`, on all nodes where a user can ask Slurm, and the modules that it imports."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.render.file import File

_LIBRARY = "slurm_node/usr/local/lib/clustergen"


def is_installed(cluster: Cluster) -> bool:
    """False where the manifest asks for Slurm's own defaults, as that of an imported cluster: it adds nothing."""
    return not cluster.slurm.bare


FILES = (
    File("slurm_node/usr/local/bin/why", is_installed, mode=0o755, program="jobs/why.py"),
    *(
        File(f"{_LIBRARY}/{name}.py", is_installed, program=f"lib/{name}.py")
        for name in ("slurm_limits", "slurm_records")
    ),
)
