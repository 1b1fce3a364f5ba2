"""slurm.conf: the programs that run around jobs, and the check of idle nodes. Where they lie, and which are wanted."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import PrivateDirectories
from clustergen.cluster.host import NodeLogins
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.cluster.slurm.keys.row import Row, words


def hooks(cluster: Cluster) -> Iterator[Row]:
    scripts, release = cluster.of(Scripts), cluster.slurm.release
    # Alloc: the prolog runs on all nodes before the job starts, and not at its first step.
    # Contain: ssh sessions and X11 belong to the job.
    flags = words("PrologFlags", ["Alloc", "Contain"], release)
    is_needed = scripts.prolog or cluster.of(NodeLogins).needs_job or bool(cluster.needs(PrivateDirectories))
    yield Row("PrologFlags", flags, "the prolog runs before the job, on all its nodes", always=is_needed)
    if scripts.prolog:
        yield Row(
            "Prolog", "/etc/slurm/prolog", "on failure the node drains, and the job is requeued and held", always=True
        )
    if scripts.epilog:
        yield Row("Epilog", "/etc/slurm/epilog", "on failure the node drains", always=True)
    if scripts.prolog or scripts.epilog:
        yield Row("PrologEpilogTimeout", scripts.timeout_s)
    if scripts.task_prolog:
        yield Row("TaskProlog", "/etc/slurm/task_prolog", "as the user, in every task", always=True)
