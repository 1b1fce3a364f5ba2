"""slurm.conf: the programs that run around jobs, and the check of idle nodes. Where they lie, and which are wanted."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import PrivateDirectories
from clustergen.cluster.features.health import Health
from clustergen.cluster.host import NodeLogins
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.cluster.slurm.keys.row import Row, words

_HEALTH_LIMIT = 60  # seconds; slurmd kills the check after that, and could not be told otherwise before 26.05


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


def health_check(cluster: Cluster) -> Iterator[Row]:
    health = cluster.of(Health)
    if health.enabled:
        drains = "drains nodes with a reason, and resumes only those"
        yield Row("HealthCheckProgram", "/etc/slurm/health", drains, always=True)
        yield Row("HealthCheckInterval", health.interval_s, always=True)
        states = words("HealthCheckNodeState", health.states, cluster.slurm.release)
        yield Row("HealthCheckNodeState", states, always=True)
        limit = _HEALTH_LIMIT if health.interval_s > _HEALTH_LIMIT else None
        yield Row("HealthCheckTimeout", limit, always=True)
