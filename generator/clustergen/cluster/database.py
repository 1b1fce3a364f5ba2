"""The memory of slurmdbd's database, where it runs on nodes of the cluster."""

from __future__ import annotations

from collections.abc import Sequence

from clustergen.manifest.model import Manifest
from clustergen.manifest.nodes import Nodes

UNKNOWN_MIB = 65536
"""Memory assumed for a node of which nothing is known."""
_LEAST_MIB = 2048  # slurmdbd logs an error below half of the 4 GiB that Slurm's accounting guide recommends


def is_local(manifest: Manifest) -> bool:
    """True if MariaDB runs on the slurmdbd node."""
    return manifest.slurm.accounting.database_host == "localhost"


def shares_node_with_jobs(manifest: Manifest, entries: Sequence[Nodes]) -> bool:
    """True if nodes of one of the entries run both jobs and the database."""
    both = {"slurm-accounting", "slurm-compute"}
    return is_local(manifest) and any(both <= set(entry.roles or ()) for entry in entries)


def own_pool_mib(memory_mib: int) -> int:
    """InnoDB's buffer pool on a node without jobs, in MiB: a twentieth of its memory, from 4 to 16 GiB, at most a
    quarter.
    """
    return min(16384, max(min(4096, memory_mib // 4), memory_mib // 20))


def shared_pool_mib(memory_mib: int) -> int:
    """The pool on a node that also runs jobs, in MiB: 2 GiB, on small nodes an eighth of the memory."""
    return min(_LEAST_MIB, memory_mib // 8)
