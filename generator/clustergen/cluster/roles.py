"""Roles of the nodes of an entry, with the default role."""

from __future__ import annotations

from clustergen.manifest.nodes import Nodes

SERVICE = "service"  # the node type of machines that run no jobs
COMPUTE = "slurm-compute"


def roles_of(entry: Nodes, *, has_gpus: bool) -> tuple[str, ...]:
    """Roles as stated, or the default. Nodes with GPUs have the default role besides the stated ones, unless
    `in_no_partition` confirms that they run no jobs.
    """
    if entry.roles is None:
        return () if entry.type == SERVICE else (COMPUTE,)
    if has_gpus and COMPUTE not in entry.roles and not entry.in_no_partition:
        return (*entry.roles, COMPUTE)
    return entry.roles
