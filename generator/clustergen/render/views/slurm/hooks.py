"""slurm.conf: the programs that run around jobs, and the check of idle nodes. Where they lie, and which are wanted."""

from __future__ import annotations

from clustergen.cluster.features.health import Health
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.render.views.slurm.settings import Section, Setting, section, words

FILE = "slurm.conf"
PROLOG = "/etc/slurm/prolog"
EPILOG = "/etc/slurm/epilog"
TASK_PROLOG = "/etc/slurm/task_prolog"
HEALTH = "/etc/slurm/health"
HEALTH_LIMIT = 60  # seconds; slurmd kills the check after that, and could not be told otherwise before 26.05


def hooks(cluster: Cluster) -> Section:
    scripts = cluster.of(Scripts)
    rows = [
        # Alloc: the prolog runs on all nodes before the job starts, and not at its first step.
        # Contain: ssh sessions and X11 belong to the job.
        Setting(
            "PrologFlags",
            words("PrologFlags", ["Alloc", "Contain"], cluster.slurm.release),
            "the prolog runs before the job, on all its nodes",
        ),
        Setting("Prolog", PROLOG, "on failure the node drains, and the job is requeued and held")
        if scripts.prolog
        else None,
        Setting("Epilog", EPILOG, "on failure the node drains") if scripts.epilog else None,
        Setting("PrologEpilogTimeout", scripts.timeout_s) if scripts.prolog or scripts.epilog else None,
        Setting("TaskProlog", TASK_PROLOG, "as the user, in every task") if scripts.task_prolog else None,
    ]
    health = cluster.of(Health)
    if health.enabled:
        rows += [
            Setting("HealthCheckProgram", HEALTH, "drains nodes with a reason, and resumes only those"),
            Setting("HealthCheckInterval", health.interval_s),
            Setting("HealthCheckNodeState", health_states(cluster)),
            Setting("HealthCheckTimeout", HEALTH_LIMIT) if health.interval_s > HEALTH_LIMIT else None,
        ]
    return section("Prolog, epilog and health check", FILE, cluster.slurm.release, rows)


def health_states(cluster: Cluster) -> str:
    return words("HealthCheckNodeState", cluster.of(Health).states, cluster.slurm.release)
